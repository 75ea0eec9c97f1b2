import {
  getDocument,
  PasswordResponses,
  PDFWorker,
  RenderingCancelledException,
  TextLayer,
  type PDFDocumentProxy,
} from 'pdfjs-dist/legacy/build/pdf.mjs'
// oxlint-disable-next-line import/default -- the bundler makes a worker of it
import ReadingWorker from 'pdfjs-dist/legacy/build/pdf.worker.min.mjs?worker&inline'

/** Largest rendered page, pixels, whatever size the file claims. */
const MAX_PIXELS = 12_000_000
/** Time limit without progress, ms. */
const TIMEOUT = 30_000

export interface Size {
  width: number
  height: number
}

/** Asks for the password of a file; `wasWrong` after a wrong one. */
export type AskPassword = (wasWrong: boolean) => Promise<string>

/** A timeout: `expired` rejects; `start` restarts it. */
function makeDeadline() {
  let timer: ReturnType<typeof setTimeout> | undefined
  let fail = (_error: Error): void => {}
  const expired = new Promise<never>((_, reject) => void (fail = reject))
  expired.catch(() => undefined)
  return {
    expired,
    fail: (error: Error) => fail(error),
    start() {
      clearTimeout(timer)
      timer = setTimeout(() => fail(new Error('Reading the file took too long.')), TIMEOUT)
    },
    stop: () => clearTimeout(timer),
  }
}

/** Opens a PDF; `stop` ends the worker. Throws if the file is invalid. */
export async function openPdf(bytes: ArrayBuffer, askPassword: AskPassword, stop: AbortSignal): Promise<Pdf> {
  // Sandboxed frames cannot start a worker from a URL, so it is inlined. The frame's content security policy applies to
  // it.
  const worker = new ReadingWorker()
  const deadline = makeDeadline()
  stop.addEventListener('abort', () => {
    deadline.stop()
    deadline.fail(stop.reason as Error)
    worker.terminate()
  })
  worker.addEventListener('error', () => deadline.fail(new Error('The reader could not be loaded.')))
  const task = getDocument({
    data: bytes,
    worker: new PDFWorker({ port: worker as never }),
    // No network access, no generated code, no form scripts.
    isEvalSupported: false,
    useWasm: false,
    useWorkerFetch: false,
    enableXfa: false,
    maxImageSize: 4 * MAX_PIXELS,
    verbosity: 0,
  })
  task.onPassword = (answer: (password: string) => void, reason: number) => {
    deadline.stop()
    askPassword(reason === PasswordResponses.INCORRECT_PASSWORD).then((password) => {
      deadline.start()
      answer(password)
    }, deadline.fail)
  }
  deadline.start()
  try {
    const document = await Promise.race([task.promise, deadline.expired])
    const first = await Promise.race([sizeOf(document, 1), deadline.expired])
    return makePdf(document, first)
  } catch (error) {
    worker.terminate()
    throw error
  } finally {
    deadline.stop()
  }
}

async function sizeOf(document: PDFDocumentProxy, number: number): Promise<Size> {
  const { width, height } = (await document.getPage(number)).getViewport({ scale: 1 })
  return { width, height }
}

function makePdf(document: PDFDocumentProxy, first: Size) {
  return {
    pages: document.numPages,
    /** Size of the first page, as an estimate for the others. */
    first,
    sizeOf: (number: number) => sizeOf(document, number),
    /** Renders a page in a canvas at a given width, with its text as an invisible layer. */
    async draw(number: number, width: number, { canvas, text }: PageElements, stop: AbortSignal): Promise<void> {
      const page = await document.getPage(number)
      const scale = width / page.getViewport({ scale: 1 }).width
      const viewport = page.getViewport({ scale })
      const pixelRatio = Math.min(devicePixelRatio, Math.sqrt(MAX_PIXELS / (viewport.width * viewport.height)))
      if (stop.aborted) return
      canvas.width = Math.max(1, Math.floor(viewport.width * pixelRatio))
      canvas.height = Math.max(1, Math.floor(viewport.height * pixelRatio))
      const drawing = page.render({ canvas, viewport: page.getViewport({ scale: scale * pixelRatio }) })
      stop.addEventListener('abort', () => drawing.cancel())
      try {
        await drawing.promise
      } catch (error) {
        if (error instanceof RenderingCancelledException) return
        throw error
      }
      if (stop.aborted) return
      text.replaceChildren()
      text.style.setProperty('--total-scale-factor', `${scale}`)
      await new TextLayer({ textContentSource: page.streamTextContent(), container: text, viewport }).render()
    },
  }
}

interface PageElements {
  canvas: HTMLCanvasElement
  text: HTMLElement
}

export type Pdf = ReturnType<typeof makePdf>
