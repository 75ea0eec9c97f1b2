import { Unreachable } from '../errors.ts'

export interface ServerEvent {
  event: string
  data: string
}

/** Most characters of one event: a complete answer with all its actions. */
const MAX_CHARACTERS = 16 * 1_048_576

const LINE_END = /\r\n|\n|\r/

/** Parses server-sent events (HTML Living Standard, 9.2.6); comments and unused fields are dropped. */
export async function* serverSentEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  /** The incomplete line. Only new bytes are searched for its end, because it may be long and arrive in many pieces. */
  let line = ''
  /** Whether the last character was CR, which may be followed by LF. */
  let isReturned = false
  let event = ''
  let data: string[] = []
  let length = 0
  for await (const piece of body) {
    const text: string = (isReturned ? '\r' : '') + decoder.decode(piece, { stream: true })
    isReturned = text.endsWith('\r')
    const [first = '', ...others] = (isReturned ? text.slice(0, -1) : text).split(LINE_END)
    line += first
    if (line.length + length > MAX_CHARACTERS)
      throw new Unreachable('The server sent an answer without an end; try again.')
    if (others.length === 0) continue
    const lines = [line, ...others.slice(0, -1)]
    line = others.at(-1)!
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { event: event || 'message', data: data.join('\n') }
        event = ''
        data = []
        length = 0
        continue
      }
      const colon = line.indexOf(':')
      const [name, value] = colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
      if (name === 'event') event = value
      else if (name === 'data') {
        data.push(value)
        length += value.length + 1
      }
    }
  }
}
