import { once } from 'node:events'
import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** Faults of a request; none by default. */
export interface Fate {
  /** Responds without forwarding the request to the store. */
  answer?: { status: number; code?: string; message?: string; headers?: Record<string, string>; body?: string }
  /** Breaks the connection after this many bytes of the request body. */
  cutAfter?: number
  /** Breaks the connection after this many bytes of the response body. */
  cutAnswerAfter?: number
  /** Never sends more than this many bytes of the response body. */
  silenceAfter?: number
  /** The store executes the request, but its response is lost. */
  loseAnswer?: boolean
  /** Never responds. */
  silence?: boolean
  /** Headers that are replaced in the response. */
  headers?: Record<string, string>
}

export interface Asked {
  method: string
  /** Path and query. */
  url: string
  headers: IncomingMessage['headers']
  /** Number of earlier requests. */
  index: number
  /** Whether the response was sent completely; settles when it was, or cannot be any more. */
  over: Promise<boolean>
}

export interface Line {
  url: string
  asked: Asked[]
  /** Sets the function that decides on faults; requests wait for its result. */
  decide(how: (asked: Asked) => Fate | undefined | void | Promise<Fate | undefined | void>): void
}

/** A proxy to a server at which a test can cause faults. */
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
    const rest = (fate.cutAnswerAfter ?? fate.silenceAfter ?? Infinity) - given
    given += part.length
    if (rest > part.length) {
      if (!response.write(part)) await room(response)
      if (response.destroyed) return void answer.destroy()
      continue
    }
    response.write(part.subarray(0, rest), () => {
      if (fate.silenceAfter === undefined) response.destroy()
    })
    return
  }
  response.end()
}

/** Resolves when the response accepts more data, or was closed. */
async function room(response: ServerResponse): Promise<void> {
  const over = new AbortController()
  const { signal } = over
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
  over.abort()
}

/** A point at which requests wait until the test opens it. */
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
