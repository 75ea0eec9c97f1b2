import { fetch, type Agent, type Response } from 'undici'
import { ByteBuffer } from '../base/byte-buffer.ts'
import { fault, isFault, type Fault } from '../contract/errors.ts'
import { privateAddress, publicAgent, type Dial, type Resolve } from './public-connection.ts'
import { readable } from './readable-page.ts'

export interface FetchLimits {
  connectMs: number
  headersMs: number
  totalMs: number
  /** After decompression; the rest is not read. */
  bytes: number
  redirects: number
  ports: readonly number[]
}

const LIMITS: FetchLimits = {
  connectMs: 5_000,
  headersMs: 10_000,
  totalMs: 20_000,
  bytes: 2 * 1_048_576,
  redirects: 3,
  ports: [80, 443],
}

export interface FetchOptions {
  /** Host names of this service, which must not fetch from itself. */
  ownHosts?: readonly string[]
  limits?: Partial<FetchLimits>
  resolve?: Resolve
  dial?: Dial
}

/** Constant, so that pages learn nothing about the user. */
const HEADERS = {
  'user-agent': 'svc-assistant',
  accept: 'text/html, text/plain, text/markdown, application/json, application/xml;q=0.9',
}

const LOCAL_NAMES = /(^|\.)(localhost|local|internal|home\.arpa|lan|intranet)$/

const refuse = (text: string): Fault => fault('bad_request', { text })

/** Parses a URL. Faults: `bad_request`, `forbidden` outside the public internet. */
function readUrl(text: string, base: URL | undefined, { ports }: FetchLimits, ownHosts: readonly string[]): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined
  if (!url) throw refuse('That is not a URL.')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse('Only http:// and https:// are fetched.')
  if (url.username || url.password) throw refuse('A URL with a user name is not fetched.')
  const host = url.hostname.replace(/\.$/, '').toLowerCase()
  if (LOCAL_NAMES.test(host) || ownHosts.includes(host)) throw privateAddress(host)
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  if (!ports.includes(port)) throw refuse(`Only the ports ${ports.join(' and ')} are fetched.`)
  if (base?.protocol === 'https:' && url.protocol === 'http:') throw refuse('It redirects from https:// to http://.')
  return url
}

function asFault(error: unknown, host: string): unknown {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) if (isFault(cause)) return cause
  if (!(error instanceof Error) || !(error.cause instanceof Error)) return error
  const { code = error.cause.message } = error.cause as NodeJS.ErrnoException
  return refuse(`${host} could not be reached: ${code}.`)
}

async function bodyOf(response: Response, max: number): Promise<Uint8Array> {
  const body = new ByteBuffer()
  for await (const piece of response.body ?? []) {
    body.add(piece as Uint8Array)
    if (body.size >= max) break
  }
  return Buffer.concat(body.take()).subarray(0, max)
}

/** Fetches pages of the public web: no private address, no cookies, limited redirects, time and size. */
export function makePageFetcher({ ownHosts = [], limits: given = {}, resolve, dial }: FetchOptions = {}) {
  const limits = { ...LIMITS, ...given }

  async function follow(text: string, agent: Agent, signal: AbortSignal): Promise<{ url: URL; response: Response }> {
    let url = readUrl(text, undefined, limits, ownHosts)
    for (let hops = 0; ; hops += 1) {
      const { host } = url
      const response = await fetch(url, { dispatcher: agent, redirect: 'manual', headers: HEADERS, signal }).catch(
        (error: unknown) => {
          throw asFault(error, host)
        },
      )
      const location = response.headers.get('location')
      if (response.status < 300 || response.status > 399 || location === null) return { url, response }
      await response.body?.cancel()
      if (hops >= limits.redirects) throw refuse(`It redirects more than ${limits.redirects} times.`)
      url = readUrl(location, url, limits, ownHosts)
    }
  }

  return async function fetchPage(text: string, signal: AbortSignal) {
    const agent = publicAgent({
      connectMs: limits.connectMs,
      headersMs: limits.headersMs,
      ...(resolve && { resolve }),
      ...(dial && { dial }),
    })
    const deadline = AbortSignal.timeout(limits.totalMs)
    try {
      const { url, response } = await follow(text, agent, AbortSignal.any([signal, deadline]))
      if (!response.ok) throw refuse(`${url.host} answered ${response.status}.`)
      const body = await bodyOf(response, limits.bytes)
      return { url: url.href, ...(await readable(body, response.headers.get('content-type') ?? '', url.href)) }
    } catch (error) {
      if (deadline.aborted && !signal.aborted)
        throw refuse(`The page took longer than ${limits.totalMs / 1_000} seconds.`)
      throw error
    } finally {
      await agent.destroy()
    }
  }
}
