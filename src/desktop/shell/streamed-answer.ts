import { serverSentEvents } from '../../client/ask/event-stream.ts'
import { Unreachable } from '../../client/errors.ts'
import { ApiError } from '../kit/api-error.ts'

export type StreamListener = (event: string, data: unknown) => void

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch (cause) {
    throw new Unreachable('The server sent an event that cannot be read.', { cause, outcomeUnknown: true })
  }
}

/** Returns the data of `done`; throws `ApiError` for `error` or if the stream ends early. */
export async function readStreamedAnswer(body: AsyncIterable<Uint8Array>, onEvent?: StreamListener): Promise<unknown> {
  for await (const { event, data } of serverSentEvents(body)) {
    const payload = parse(data)
    if (event === 'done') return payload
    if (event === 'error') {
      const { ok: _ok, success: _success, error, code, ...fields } = payload
      throw new ApiError({ code: String(code), message: String(error), fields })
    }
    onEvent?.(event, payload)
  }
  throw new Unreachable('The server broke off in the middle of the answer.', { outcomeUnknown: true })
}
