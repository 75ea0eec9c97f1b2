import { LockKeyhole, ZoomIn, ZoomOut } from 'lucide'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button, IconButton } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import type { Pdf, Size } from './pdf.ts'
import { words } from './words.ts'

const loadReader = () => import('./pdf.ts')

/** Pages added when the last one comes near. */
const PAGE_STEP = 50
const ZOOMS = [0.5, 0.75, 1, 1.5, 2, 3] as const
/** Distance from the visible area within which pages are rendered, pixels. */
const DRAW_MARGIN = 600

interface Question {
  wasWrong: boolean
  answer: (password: string) => void
}

/** Asks for the password of a PDF; it stays in this window. */
function Password({ question: { wasWrong, answer } }: { question: Question }) {
  const [password, setPassword] = useState('')
  return (
    <EmptyState icon={LockKeyhole} title={words('pdf_locked')}>
      <form
        class="pdf-password"
        onSubmit={(event) => {
          event.preventDefault()
          answer(password)
        }}
      >
        <TextField
          label={words('pdf_password')}
          type="password"
          autoComplete="off"
          value={password}
          problem={wasWrong ? words('pdf_wrong_password') : undefined}
          onText={setPassword}
        />
        <Button kind="main" type="submit">
          {words('open')}
        </Button>
      </form>
    </EmptyState>
  )
}

interface PageProps {
  pdf: Pdf
  number: number
  width: number
  onBroken: () => void
}

/** A placeholder of the page's size, rendered while it is near the visible area. */
function Page({ pdf, number, width, onBroken }: PageProps) {
  const container = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const text = useRef<HTMLDivElement>(null)
  const [size, setSize] = useState<Size>(pdf.first)
  const [isNear, setNear] = useState(false)

  useEffect(() => {
    const observer = new IntersectionObserver((seen) => setNear(seen.at(-1)!.isIntersecting), {
      root: container.current!.closest('.pdf-pages'),
      rootMargin: `${DRAW_MARGIN}px 0px`,
    })
    observer.observe(container.current!)
    return () => observer.disconnect()
  }, [])

  useEffect(() => {
    if (!isNear || width === 0) return
    const stop = new AbortController()
    const drawn = async () => {
      setSize(await pdf.sizeOf(number))
      if (!canvas.current || !text.current) return
      await pdf.draw(number, width, { canvas: canvas.current, text: text.current }, stop.signal)
    }
    drawn().catch(() => !stop.signal.aborted && onBroken())
    return () => stop.abort()
  }, [isNear, width])

  return (
    <div
      ref={container}
      class="pdf-page"
      role="group"
      aria-label={words('pdf_page', number, pdf.pages)}
      style={{ width: `${width}px`, height: `${(width * size.height) / size.width}px` }}
    >
      {isNear && <canvas ref={canvas} aria-hidden="true" />}
      {isNear && <div ref={text} class="pdf-text" />}
    </div>
  )
}

/** The width available for pages, pixels. */
function useWidth(pages: { current: HTMLElement | null }, isLoaded: boolean): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    if (!pages.current) return
    const observer = new ResizeObserver(([one]) => setWidth(Math.floor(one!.contentRect.width)))
    observer.observe(pages.current)
    return () => observer.disconnect()
  }, [isLoaded])
  return width
}

function Pages({ pdf, name }: { pdf: Pdf; name: string }) {
  const pages = useRef<HTMLDivElement>(null)
  const [shown, setShown] = useState(PAGE_STEP)
  const [zoom, setZoom] = useState<number>(1)
  const [isBroken, setBroken] = useState(false)
  const width = Math.floor(Math.min(useWidth(pages, true), 1_000) * zoom)
  const next = (by: number) => ZOOMS[ZOOMS.indexOf(zoom as never) + by]
  const zoomTo = (wanted: number | undefined) => wanted !== undefined && setZoom(wanted)
  return (
    <div class="pdf">
      <div class="pdf-bar" role="toolbar" aria-label={words('zoom')}>
        <span>{words('pdf_pages', pdf.pages)}</span>
        <span class="space" />
        <IconButton icon={ZoomOut} label={words('zoom_out')} disabled={!next(-1)} onClick={() => zoomTo(next(-1))} />
        <span role="status">{Math.round(zoom * 100)} %</span>
        <IconButton icon={ZoomIn} label={words('zoom_in')} disabled={!next(1)} onClick={() => zoomTo(next(1))} />
      </div>
      {isBroken && (
        <p class="pdf-broken" role="alert">
          {words('pdf_page_broken')}
        </p>
      )}
      <div
        ref={pages}
        class="pdf-pages"
        role="document"
        tabIndex={0}
        aria-label={name}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          if (scrollHeight - scrollTop - clientHeight < 2 * clientHeight && shown < pdf.pages)
            setShown(shown + PAGE_STEP)
        }}
      >
        {Array.from({ length: Math.min(shown, pdf.pages) }, (_, index) => (
          <Page key={`${index}`} pdf={pdf} number={index + 1} width={width} onBroken={() => setBroken(true)} />
        ))}
      </div>
    </div>
  )
}

/** Shows a PDF with pdf.js: browsers do not run their own viewer in a sandboxed frame. */
export function PdfView({ bytes, name, onBroken }: { bytes: Blob; name: string; onBroken: () => void }) {
  const [pdf, setPdf] = useState<Pdf | undefined>(undefined)
  const [question, setQuestion] = useState<Question | undefined>(undefined)
  useEffect(() => {
    const stop = new AbortController()
    const ask = (wasWrong: boolean) =>
      new Promise<string>((resolve) => {
        const answer = (password: string) => {
          setQuestion(undefined)
          resolve(password)
        }
        setQuestion({ wasWrong, answer })
      })
    const open = async () => {
      const { openPdf } = await loadReader()
      if (!stop.signal.aborted) setPdf(await openPdf(await bytes.arrayBuffer(), ask, stop.signal))
    }
    open().catch(() => !stop.signal.aborted && onBroken())
    return () => stop.abort(new Error('The file was closed.'))
  }, [bytes])
  if (question) return <Password question={question} />
  return pdf ? <Pages pdf={pdf} name={name} /> : <Loading />
}
