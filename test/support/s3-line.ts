import { once } from 'node:events'
import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** What happens to a request on its way; nothing where all is left out. */
export interface Fate {
  /** Is answered on the way, and the store never hears of it. */
  answer?: { status: number; code?: string; message?: string; headers?: Record<string, string>; body?: string }
  /** The connection breaks after so many bytes of the request's body. */
  cutAfter?: number
  /** The connection breaks after so many bytes of the answer's body. */
  cutAnswerAfter?: number
  /** The store does what it was asked, and its answer is lost. */
  loseAnswer?: boolean
  /** Nothing ever comes back. */
  silence?: boolean
  /** Headers of the answer that read differently. */
  headers?: Record<string, string>
}

export interface Asked {
  method: string
  /** Path and query, as sent. */
  url: string
  headers: IncomingMessage['headers']
  /** How many requests came before this one. */
  index: number
  /** Whether its answer was given to its end, once it was or cannot be any more. */
  over: Promise<boolean>
}

export interface Line {
  url: string
  asked: Asked[]
  /** Decides over every request from now on; one that has to wait is waited for. */
  decide(how: (asked: Asked) => Fate | undefined | void | Promise<Fate | undefined | void>): void
}

/** The way to a server at a URL, on which a test decides what happens. */
export async function lineOfTest(to: string): Promise<Line> {
  let how: Parameters<Line['decide']>[0] = () => undefined
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    const over = once(response, 'close').then(() => response.writableFinished)
    const each = { method: request.method!, url: request.url!, headers: request.headers, index: asked.length, over }
    asked.push(each)
    Promise.resolve(how(each))
      .then((fate) => carry(to, request, response, fate ?? {}))
      .catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    decide: (next) => void (how = next),
  }
}

async function carry(to: string, request: IncomingMessage, response: ServerResponse, fate: Fate): Promise<void> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    parts.push(part)
    size += part.length
    if (fate.cutAfter !== undefined && size >= fate.cutAfter) return void request.socket.destroy()
  }
  if (fate.silence) return
  if (fate.answer) {
    const { status, code, message = '', headers, body } = fate.answer
    response.writeHead(status, headers)
    const error = code && `<Error><Code>${code}</Code><Message>${message}</Message></Error>`
    response.end(request.method === 'HEAD' ? undefined : (body ?? error))
    return
  }
  const forward = ask(new URL(request.url!, to), { method: request.method!, headers: request.headers })
  forward.end(Buffer.concat(parts))
  const [answer] = (await once(forward, 'response')) as [IncomingMessage]
  if (fate.loseAnswer) {
    await answer.resume().toArray()
    return void request.socket.destroy()
  }
  response.writeHead(answer.statusCode!, { ...answer.headers, ...fate.headers })
  let given = 0
  for await (const part of answer as AsyncIterable<Buffer>) {
    const rest = (fate.cutAnswerAfter ?? Infinity) - given
    given += part.length
    if (rest > part.length) {
      if (!response.write(part)) await room(response)
      if (response.destroyed) return void answer.destroy()
      continue
    }
    response.write(part.subarray(0, rest), () => response.destroy())
    return
  }
  response.end()
}

/** Resolves when an answer takes more, or nobody wants it any more. */
async function room(response: ServerResponse): Promise<void> {
  const over = new AbortController()
  const { signal } = over
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
  over.abort()
}

/** A point at which requests wait until the test lets them go on. */
export function gate(): { reached: Promise<void>; open(): void; pass(): Promise<void> } {
  let arrive!: () => void
  let open!: () => void
  const reached = new Promise<void>((resolve) => (arrive = resolve))
  const opened = new Promise<void>((resolve) => (open = resolve))
  return {
    reached,
    open,
    pass() {
      arrive()
      return opened
    },
  }
}
