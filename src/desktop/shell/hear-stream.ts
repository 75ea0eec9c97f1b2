import { serverSentEvents } from '../../client/ask/event-stream.ts'
import { Unreachable } from '../../client/errors.ts'
import { Trouble } from '../kit/trouble.ts'

/** Hears what a stream tells before its end. */
export type Hearing = (event: string, data: unknown) => void

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch (cause) {
    throw new Unreachable('The server sent an event that cannot be read.', { cause, outcomeUnknown: true })
  }
}

/** Hears an answer that comes as a stream: `done` is the whole answer, `error` is thrown as `Trouble`, and so is its breaking off. */
export async function hearStream(body: AsyncIterable<Uint8Array>, onEvent?: Hearing): Promise<unknown> {
  for await (const { event, data } of serverSentEvents(body)) {
    const said = parse(data)
    if (event === 'done') return said
    if (event === 'error') {
      const { ok: _ok, success: _success, error, code, ...fields } = said
      throw new Trouble({ code: String(code), message: String(error), fields })
    }
    onEvent?.(event, said)
  }
  throw new Unreachable('The server broke off in the middle of the answer.', { outcomeUnknown: true })
}
