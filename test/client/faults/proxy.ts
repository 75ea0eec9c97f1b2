import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Random } from '../../support/random.ts'

/** What can happen to a request on its way, or to the answer. */
export const mischiefs = [
  'slow',
  'lost',
  'unheard',
  'twice',
  'cut',
  'too_many',
  'broken',
  'web_page',
  'redirect',
  'bad_gateway',
] as const
export type Mischief = (typeof mischiefs)[number]

export interface Proxy {
  url: string
  /** Where requests go on to. */
  upstream: string
  /** What happens to a request, by its action; asked for each. */
  next: (action: string) => Mischief | undefined
  /** Actions of all requests, in order. */
  log: string[]
}

/** Values of Retry-After that a client may meet (RFC 9110, 10.2.3), sound and unsound. */
const WAITS = ['0', '1', '-5', 'soon', '1.5', '', 'Wed, 21 Oct 2015 07:28:00 GMT']

interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

const json = (status: number, code: string, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ ok: false, error: 'Not now.', code }),
})

/** A proxy on the loopback that does harm to what passes through, closed with the test. */
export async function startProxy(upstream: string, random: Random): Promise<Proxy> {
  const proxy: Proxy = { url: '', upstream, next: () => undefined, log: [] }
  const answers: Partial<Record<Mischief, () => Answer>> = {
    too_many: () => json(429, 'rate_limited', { 'retry-after': random.of(WAITS) }),
    broken: () => json(500, 'internal'),
    web_page: () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Please pay first</h1>' }),
    redirect: () => ({ status: 302, headers: { location: 'http://127.0.0.1:9/elsewhere' }, body: '' }),
    bad_gateway: () => ({ status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>502</h1>' }),
  }

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await wholeOf(request)
    const action = new URL(request.url ?? '/', proxy.url).searchParams.get('action') ?? ''
    proxy.log.push(action)
    const mischief = proxy.next(action)
    const instead = mischief && answers[mischief]
    if (instead) {
      const { status, headers, body: text } = instead()
      response.writeHead(status, headers).end(text)
      return
    }
    if (mischief === 'lost') return void response.destroy()
    if (mischief === 'slow') await new Promise((resolve) => setTimeout(resolve, 5 + random.below(40)))
    if (mischief === 'twice') await forward(proxy.upstream, request, body)
    const answer = await forward(proxy.upstream, request, body)
    if (mischief === 'unheard') return void response.destroy()
    response.writeHead(answer.status, answer.headers)
    if (mischief !== 'cut') return void response.end(answer.body)
    response.write(answer.body.subarray(0, random.below(answer.body.length + 1)), () => response.destroy())
  }

  const server = createServer((request, response) => {
    // Whoever is asked may be gone, killed by the test: then so is the connection.
    pass(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy
}

async function wholeOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

interface Forwarded {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

function forward(upstream: string, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Forwarded> {
  return new Promise((resolve, reject) => {
    const options = { method, headers: { ...headers, connection: 'close' }, agent: false } as const
    const outgoing = ask(`${upstream}${url}`, options, (answer) => {
      wholeOf(answer).then(
        (bytes) => resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body: bytes }),
        reject,
      )
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
