import { printable } from '../../../base/text.ts'
import { Download, FileQuestion } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { formatSize } from '../../kit/formats.ts'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import type { Item } from './folder.ts'
import type { Kind } from './file-kinds.ts'
import { ImageView } from './image-view.tsx'
import { PdfView } from './pdf-view.tsx'
import { words } from './words.ts'

/** Largest file that is previewed, bytes. */
const MAX_BYTES: Partial<Record<Kind, number>> = {
  image: 64 * 1_048_576,
  pdf: 128 * 1_048_576,
  audio: 256 * 1_048_576,
  video: 512 * 1_048_576,
}

const NoPreview = ({ path, item, text }: { path: string; item: Item; text: string }) => (
  <EmptyState icon={FileQuestion} title={text}>
    <p>{formatSize(item.size ?? 0)}</p>
    <Button kind="main" icon={Download} onClick={() => bridge.download('filesystem.download', { path })}>
      {words('download')}
    </Button>
  </EmptyState>
)

/** Previews an image, audio, video or PDF; other files are offered as a download. */
export function Preview({ path, item, kind }: { path: string; item: Item; kind: Kind }) {
  const [url, setUrl] = useState<string | undefined>(undefined)
  const [pdf, setPdf] = useState<Blob | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const [isBroken, setBroken] = useState(false)
  const [attempts, setAttempts] = useState(0)
  const limit = MAX_BYTES[kind]
  const isShown = limit !== undefined && (item.size ?? 0) <= limit

  useEffect(() => {
    if (!isShown) return
    const stop = new AbortController()
    let objectUrl: string | undefined
    setError(undefined)
    bridge.call('filesystem.download', { path }, { signal: stop.signal }).then(
      (bytes) => {
        if (kind === 'pdf') {
          setPdf(bytes)
          return
        }
        // The type follows from the name, and is never HTML.
        objectUrl = URL.createObjectURL(new Blob([bytes], { type: item.mime ?? '' }))
        setUrl(objectUrl)
      },
      (error: unknown) => !stop.signal.aborted && setError(error),
    )
    return () => {
      stop.abort()
      if (objectUrl) URL.revokeObjectURL(objectUrl)
    }
  }, [path, item.modified, isShown, attempts])

  if (!isShown) return <NoPreview path={path} item={item} text={words(limit ? 'too_large_to_show' : 'no_preview')} />
  if (isBroken) return <NoPreview path={path} item={item} text={words(kind === 'pdf' ? 'pdf_broken' : 'cannot_show')} />
  if (error !== undefined)
    return (
      <EmptyState icon={FileQuestion} title={describeError(error)}>
        <Button onClick={() => setAttempts(attempts + 1)}>{common('retry')}</Button>
      </EmptyState>
    )
  if (pdf) return <PdfView bytes={pdf} name={item.name} onBroken={() => setBroken(true)} />
  if (url === undefined) return <Loading />
  if (kind === 'image')
    return <ImageView url={url} path={path} alt={printable(item.name)} onError={() => setBroken(true)} />
  const shared = { src: url, onError: () => setBroken(true) }
  return (
    <div class={`shown ${kind}`}>
      {/* Files have no captions. */}
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption */}
      {kind === 'audio' && <audio {...shared} controls aria-label={printable(item.name)} />}
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption */}
      {kind === 'video' && <video {...shared} controls aria-label={printable(item.name)} />}
    </div>
  )
}
