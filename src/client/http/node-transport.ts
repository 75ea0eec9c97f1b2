import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { blocksOf } from '../../host/stream-blocks.ts'
import { toUnreachable } from './network-error.ts'
import type { Transport, WireAnswer, WireRequest } from './transport.ts'

interface Http {
  request(url: string, options: RequestOptions): ClientRequest
  agent: Agent
}

/** Internal: a kept-alive connection was closed before the server saw the request. */
class StaleConnection extends Error {}

/** Uses node:http with keep-alive: the global fetch would double the start time of the process. */
export function makeNodeTransport(): Transport {
  const agents = new Map<string, Agent>()

  async function http(url: string): Promise<Http> {
    const { protocol } = new URL(url)
    const { request, Agent } = protocol === 'https:' ? await import('node:https') : await import('node:http')
    const agent = agents.get(protocol) ?? new Agent({ keepAlive: true, scheduling: 'lifo' })
    agents.set(protocol, agent)
    return { request, agent }
  }

  return {
    async request(request) {
      const node = await http(request.url)
      request.signal?.throwIfAborted()
      // A consumed stream cannot be sent again.
      const mayRepeat = request.repeatable && (!request.body || request.body instanceof Uint8Array)
      try {
        const answer = await exchange(node, request, { mayRepeat, asksFirst: isLarge(request) })
        if (answer.status !== 417) return answer
        // Nothing was sent yet: a proxy answered without knowing the request.
        for await (const _ of answer.body) break
        return await exchange(node, request, { mayRepeat: false, asksFirst: false })
      } catch (error) {
        if (error instanceof StaleConnection)
          return await exchange(node, request, { mayRepeat: false, asksFirst: false })
        throw error
      }
    },
    close() {
      for (const agent of agents.values()) agent.destroy()
    },
  }
}

/** Smallest stream that waits for "100 Continue" (RFC 9110, 10.1.1), bytes. */
const LARGE = 4 * 1_048_576
/** How long to wait for it, ms; then the body is sent anyway, as the RFC requires. */
const ASKING = 1_000

const isLarge = ({ body, size = 0 }: WireRequest): boolean =>
  body !== undefined && !(body instanceof Uint8Array) && size >= LARGE

interface ExchangeOptions {
  /** Whether the request may be repeated if the connection was closed. */
  mayRepeat: boolean
  /** Whether to wait for "100 Continue" before sending the body. */
  asksFirst: boolean
}

function exchange(node: Http, request: WireRequest, { mayRepeat, asksFirst }: ExchangeOptions): Promise<WireAnswer> {
  const { method, url, headers, body, size, signal } = request
  const expectation = asksFirst ? { expect: '100-continue' } : {}
  const outgoing = node.request(url, {
    method,
    headers: body ? { ...headers, 'content-length': String(size), ...expectation } : headers,
    agent: node.agent,
    ...(signal ? { signal } : {}),
  })
  const silence = watchSilence(request.timeout, () =>
    outgoing.destroy(Object.assign(new Error('silence'), { code: 'ETIMEDOUT' })),
  )
  const describe = (error: unknown): unknown =>
    signal?.aborted ? signal.reason : toUnreachable(error, { url, timeout: request.timeout })

  return new Promise((resolve, reject) => {
    outgoing.on('response', (incoming) => {
      silence.pause()
      resolve({
        status: incoming.statusCode ?? 0,
        headers: flatten(incoming),
        body: read(incoming, outgoing, silence, describe),
        abandon: () => void outgoing.destroy(),
      })
    })
    // Stays attached: an upload rejected half-way breaks after the response has arrived.
    outgoing.on('error', (error) => {
      silence.pause()
      const unseen =
        outgoing.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(String((error as { code?: unknown }).code))
      reject(unseen && mayRepeat && !signal?.aborted ? new StaleConnection() : describe(error))
    })
    silence.resume()
    if (!body) outgoing.end()
    else if (body instanceof Uint8Array) outgoing.end(body)
    else {
      const wanted = asksFirst ? isWanted(outgoing) : Promise.resolve(true)
      const sending = wanted.then((isSo) => (isSo ? sendBody(outgoing, body, size ?? 0, silence) : undefined))
      sending.catch((error: unknown) => {
        silence.pause()
        reject(error)
        outgoing.destroy()
      })
    }
  })
}

/** Waits for "100 Continue" for a limited time; false if there is a response or the connection is gone. */
function isWanted(outgoing: ClientRequest): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => settle(true), ASKING)
    const settle = (isSo: boolean): void => {
      clearTimeout(timer)
      resolve(isSo)
    }
    outgoing.once('continue', () => settle(true))
    outgoing.once('response', () => settle(false))
    outgoing.once('close', () => settle(false))
  })
}

type Silence = ReturnType<typeof watchSilence>

/** Calls `end` after `ms` of waiting for the other side; time spent waiting for this side does not count. */
function watchSilence(ms: number, end: () => void) {
  let timer: NodeJS.Timeout | undefined
  const pause = () => {
    clearTimeout(timer)
    timer = undefined
  }
  return {
    pause,
    resume() {
      if (timer) timer.refresh()
      else timer = setTimeout(end, ms)
    },
  }
}

/** Writes a stream with one chunk of read-ahead, and stops early if the server has already responded. */
async function sendBody(outgoing: ClientRequest, body: AsyncIterable<Uint8Array>, size: number, silence: Silence) {
  let sent = 0
  let stopped = false
  let goOn = (): void => undefined
  const stop = () => {
    stopped = true
    goOn()
  }
  outgoing.once('response', stop).once('close', stop)
  let gone: Promise<void> | undefined
  silence.pause()
  for await (const chunk of body) {
    if (gone) {
      silence.resume()
      await gone
      silence.pause()
    }
    if (stopped) return
    sent += chunk.length
    if (sent > size) break
    gone = new Promise((resolve) => {
      goOn = resolve
      // The connection uses the chunk until this is called.
      outgoing.write(chunk, () => resolve())
    })
  }
  if (stopped) return
  if (sent !== size)
    throw new Error(`The content to send is not the ${size} bytes it was announced to be: it was changed meanwhile.`)
  silence.resume()
  outgoing.end()
}

async function* read(
  incoming: IncomingMessage,
  outgoing: ClientRequest,
  silence: Silence,
  describe: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  const chunks = blocksOf(incoming)
  try {
    for (;;) {
      silence.resume()
      const { done, value } = await chunks.next().catch((error: unknown) => Promise.reject(describe(error)))
      silence.pause()
      if (done) return
      yield value
    }
  } finally {
    silence.pause()
    await chunks.return(undefined)
    // A connection with unread or unsent bytes cannot be reused.
    if (!incoming.complete || !outgoing.writableFinished) outgoing.destroy()
  }
}

function flatten(incoming: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return headers
}
