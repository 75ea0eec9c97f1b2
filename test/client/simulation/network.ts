import type { FastifyInstance } from 'fastify'
import type { Transport, WireAnswer, WireRequest } from '../../../src/client/http/transport.ts'
import { Unreachable } from '../../../src/client/errors.ts'
import type { Random } from '../../support/random.ts'
import type { Disk } from './disk/disk.ts'
import { saw } from './seen.ts'
import type { Scheduler } from './scheduler.ts'

/** What can happen to a request or its answer. */
export const faults = [
  /** The request never arrives. */
  'lost',
  /** The client gives it up, and it arrives all the same, later. */
  'late',
  /** It arrives twice. */
  'twice',
  /** The server does what was asked, and nobody hears of it. */
  'unheard',
  /** The answer breaks off. */
  'cut',
  /** The answer ends early, as if that were all. */
  'short',
  /** A byte of a content is another one on the way. */
  'garbled',
  'too_many',
  'broken',
  'bad_gateway',
  'portal',
  'redirect',
  'maintenance',
] as const
export type Fault = (typeof faults)[number]

interface Raw {
  status: number
  headers: Record<string, string>
  body: Buffer
}

const json = (status: number, document: object, headers: Record<string, string> = {}): Raw => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: Buffer.from(JSON.stringify(document)),
})
const page = (status: number, headers: Record<string, string> = {}): Raw => ({
  status,
  headers: { 'content-type': 'text/html', ...headers },
  body: Buffer.from('<html><body>Welcome to the hotel</body></html>'),
})

const WAITS = ['0', '1', '7', '-3', 'soon', '99999999', 'Sat, 21 Nov 2026 12:00:07 GMT', '']

/** Answers that come instead of the server's, which never sees the request. */
const instead: Partial<Record<Fault, (random: Random) => Raw>> = {
  too_many: (random) =>
    json(429, { ok: false, error: 'Slow down.', code: 'rate_limited' }, { 'retry-after': random.of(WAITS) }),
  broken: () => json(500, { ok: false, error: 'It broke.', code: 'internal' }),
  bad_gateway: () => page(502),
  portal: () => page(200),
  redirect: () => page(302, { location: 'https://elsewhere.example/login' }),
  maintenance: () => json(503, { ok: false, error: 'Back soon.', code: 'maintenance' }, { 'retry-after': '1' }),
}

interface Parts {
  app: FastifyInstance
  disk: Disk
  scheduler: Scheduler
  random: Random
  /** The server offers nothing beyond the bare interface. */
  plain: boolean
  /** The server has done what a request asked for; `isLate` when whoever sent it does not wait for that any more. */
  onServed: (isLate: boolean) => void
  /** What happens to the next request, if anything. */
  nextFault: () => Fault | undefined
}

const CHANGING = /[?&]action=(upload|upload_batch|files_batch|delete|move|mkdir)(&|$)/

/** Where the server is; nobody ever connects to it. */
export const ADDRESS = 'http://svc.example'

const lost = (): Unreachable => new Unreachable('The connection broke off.', { outcomeUnknown: true })

/** Carries requests to a server in the same process, in the order that the scheduler decides, through whatever befalls them. */
export function makeNetwork({ app, disk, scheduler, random, plain, onServed, nextFault }: Parts): Transport {
  async function deliver(
    { method, url, headers }: WireRequest,
    sent: Buffer | undefined,
    isLate = false,
  ): Promise<Raw> {
    const answer = await app.inject({
      method,
      url: url.slice(ADDRESS.length),
      headers: sent ? { ...headers, 'content-length': String(sent.length) } : headers,
      ...(sent ? { payload: sent } : {}),
    })
    if (CHANGING.test(url)) onServed(isLate)
    const flat = Object.entries(answer.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : String(value)]],
    )
    const body = plain && url.includes('action=capabilities') ? bare(answer.rawPayload) : answer.rawPayload
    return { status: answer.statusCode, headers: Object.fromEntries(flat) as Raw['headers'], body }
  }

  async function exchange(request: WireRequest, label: string): Promise<WireAnswer> {
    const body = await readBody(request)
    const fault = nextFault()
    if (fault) saw(fault)
    const name = fault ? `${label} (${fault})` : label
    const made = fault && instead[fault]
    if (fault === 'lost' || made) {
      await scheduler.enter(disk, name, () => undefined)
      if (!made) throw lost()
      return asAnswer(made(random), random)
    }
    if (fault === 'late') {
      void scheduler.enter(disk, name, () => deliver(request, body, true), 'outlives')
      await scheduler.enter(disk, `${label} given up`, () => undefined)
      throw lost()
    }
    if (fault === 'twice') await scheduler.enter(disk, `${name} first`, () => deliver(request, body, true), 'outlives')
    const answer = await scheduler.enter(disk, name, () => deliver(request, body), random.of(['yes', 'outlives']))
    await scheduler.enter(disk, `${label} answered ${answer.status}`, () => undefined)
    if (fault === 'unheard') throw lost()
    return asAnswer(answer, random, fault)
  }

  return {
    request(request) {
      const { signal } = request
      const address = new URL(request.url)
      const label = `${address.searchParams.get('action')} ${address.searchParams.get('path') ?? ''}`
      return new Promise((resolve, reject) => {
        const stop = () => reject(signal!.reason as Error)
        if (signal?.aborted) return stop()
        signal?.addEventListener('abort', stop, { once: true })
        exchange(request, label)
          .then(resolve, reject)
          .finally(() => signal?.removeEventListener('abort', stop))
      })
    },
    close: () => undefined,
  }
}

const bare = (document: Buffer): Buffer =>
  Buffer.from(JSON.stringify({ ...(JSON.parse(document.toString()) as object), features: {} }))

async function readBody({ body, size }: WireRequest): Promise<Buffer | undefined> {
  if (!body || body instanceof Uint8Array) return body && Buffer.from(body)
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(Buffer.from(chunk))
  const whole = Buffer.concat(chunks)
  if (whole.length !== size) throw new Error(`${whole.length} bytes were sent instead of the ${size} announced.`)
  return whole
}

function asAnswer({ status, headers, body }: Raw, random: Random, fault?: Fault): WireAnswer {
  const isBytes = !/json/.test(headers['content-type'] ?? '')
  const end = fault === 'cut' || fault === 'short' ? random.below(body.length + 1) : body.length
  const bytes = Buffer.from(body.subarray(0, end))
  if (fault === 'garbled' && isBytes && bytes.length > 0) {
    const at = random.below(bytes.length)
    bytes[at] = bytes[at]! ^ 1
  }
  const middle = random.below(bytes.length + 1)
  return {
    status,
    headers,
    body: (async function* () {
      await Promise.resolve()
      if (middle > 0) yield bytes.subarray(0, middle)
      if (middle < bytes.length) yield bytes.subarray(middle)
      if (fault === 'cut') throw lost()
    })(),
  }
}
