import { Unreachable } from '../trouble.ts'

export interface ServerEvent {
  event: string
  data: string
}

/** Most characters of one event: an answer whole, with all its actions. */
const MOST = 16 * 1_048_576

const LINE_END = /\r\n|\n|\r(?!$)/

/** Takes a stream of server-sent events apart (HTML Living Standard, 9.2.6); comments and fields nobody needs are left out. */
export async function* serverSentEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  let event = ''
  let data: string[] = []
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true })
    if (rest.length > MOST) throw new Unreachable('The server sent an answer without an end; try again.')
    const lines = rest.split(LINE_END)
    rest = lines.pop()!
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { event: event || 'message', data: data.join('\n') }
        event = ''
        data = []
        continue
      }
      const colon = line.indexOf(':')
      const [name, value] = colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
      if (name === 'event') event = value
      else if (name === 'data') data.push(value)
    }
  }
}
