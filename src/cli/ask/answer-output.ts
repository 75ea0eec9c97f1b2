import { printable } from '../../base/text.ts'
import type { AskEvent } from '../../client/ask/ask-stream.ts'
import type { Io } from '../io.ts'
import { plainText } from './markdown-text.ts'

/** Shows an answer while it is generated. */
export interface AnswerOutput {
  onEvent(event: AskEvent): Promise<void>
  info(text: string): void
  /** Ends the answer or this part of it, also when it was interrupted. */
  end(): Promise<void>
}

type Tool = Extract<AskEvent, { event: 'tool' }>['data']

/** Shows that a tool starts, or that it failed. Tools that need permission are announced by the prompt. */
function toolLine({ summary, status }: Tool, { paint }: Io): string | undefined {
  const what = printable(summary.trim())
  if (status === 'running') return paint.dim(`· ${what}`)
  return status === 'failed' ? paint.yellow(`✗ ${what}: failed`) : undefined
}

/** An action of the desktop; the terminal can only name it. */
function actionLine({ type, data }: Extract<AskEvent, { event: 'action' }>['data']): string | undefined {
  if (type === 'confirm') return undefined
  const values = Object.values(data).map((value) => printable(String(value)))
  return `(for the desktop: ${[type.replaceAll('_', ' '), ...values].join(' ')})`
}

function progressLine(event: AskEvent, io: Io): string | undefined {
  if (event.event === 'tool') return toolLine(event.data, io)
  return event.event === 'action' ? actionLine(event.data) : undefined
}

/** With `--json`: one object per line with a stream, otherwise the whole answer as one document at the end. */
export function jsonOutput(io: Io, isStream: boolean): AnswerOutput {
  return {
    onEvent({ event, data }) {
      if (isStream) io.event('', { event, ...data })
      return Promise.resolve()
    },
    info: () => undefined,
    end: () => Promise.resolve(),
  }
}

/** Writes the text to standard output as it arrives, and notes to standard error. */
export function plainOutput(io: Io): AnswerOutput {
  let last = '\n'
  let isStreamed = false
  const write = async (text: string): Promise<void> => {
    const safe = plainText(text.replaceAll('\r', ''))
    if (safe === '') return
    last = safe.at(-1)!
    await io.raw(safe)
  }
  return {
    async onEvent(event) {
      const line = progressLine(event, io)
      if (line !== undefined) io.info(line)
      if (event.event === 'delta') {
        isStreamed = true
        await write(event.data.text)
      }
      if (event.event === 'done' && !isStreamed) await write(event.data.response)
    },
    info: (text) => io.info(text),
    async end() {
      if (last !== '\n') await write('\n')
      isStreamed = false
    },
  }
}

/** Renders Markdown on a terminal and redraws it while it grows. */
export async function terminalOutput(io: Io): Promise<AnswerOutput> {
  const { makeLiveText } = await import('./live-text.ts')
  const { stdout, stderr } = process
  const live = makeLiveText(
    {
      write: (text) => void stdout.write(text),
      size: () => ({ columns: stdout.columns, rows: stdout.rows }),
    },
    io.paint,
  )
  let isStreamed = false
  const info = (text: string): void => live.interrupt(() => void stderr.write(`${text}\n`))
  return {
    onEvent(event) {
      const line = progressLine(event, io)
      if (line !== undefined) info(line)
      if (event.event === 'delta') {
        isStreamed = true
        live.add(event.data.text)
      }
      if (event.event === 'done' && !isStreamed) live.add(event.data.response)
      return Promise.resolve()
    },
    info,
    end() {
      live.end()
      isStreamed = false
      return Promise.resolve()
    },
  }
}
