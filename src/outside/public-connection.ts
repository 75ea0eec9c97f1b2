import { lookup } from 'node:dns/promises'
import { isIP, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { callbackify } from 'node:util'
import { Agent, buildConnector } from 'undici'
import { fault, type Fault } from '../contract/errors.ts'
import { isPublic } from './public-addresses.ts'

export type Resolve = (host: string) => Promise<readonly { address: string }[]>

/** Opens a connection to an address known to be public. */
export type Dial = ReturnType<typeof buildConnector>

export interface ConnectionOptions {
  resolve?: Resolve
  dial?: Dial
  /** Time limit to connect, ms. */
  connectMs: number
  /** Time limit until the response begins, ms. */
  headersMs: number
}

/** Most addresses tried per name, one after the other. */
const TRIED = 3

/** The refusal of an address that is not public, against server-side request forgery (CWE-918). */
export const privateAddress = (host: string): Fault =>
  fault('forbidden', { text: `${host} is not on the public internet; addresses of private networks are not fetched.` })

/** Addresses of this machine: even public ones lead back inside. */
const ownAddresses = (): Set<string> =>
  new Set(Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address)))

const bare = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')

function assertPublic(host: string, addresses: readonly string[]): void {
  const own = ownAddresses()
  // One private address is enough to refuse: it would be tried too.
  if (addresses.length === 0 || addresses.some((address) => !isPublic(address) || own.has(address)))
    throw privateAddress(host)
}

/** Connects only to the public internet: checks all resolved addresses, and the remote address after connecting. */
export function publicAgent({
  resolve = (host) => lookup(host, { all: true }),
  dial,
  connectMs,
  headersMs,
}: ConnectionOptions) {
  const connect = dial ?? buildConnector({ timeout: connectMs, autoSelectFamily: false, allowH2: false })

  const dialOne = (options: buildConnector.Options): Promise<Socket> =>
    new Promise((done, failed) => {
      connect(options, (error, socket) => {
        if (error) failed(error)
        else done(socket)
      })
    })

  async function open(options: buildConnector.Options): Promise<Socket> {
    const host = bare(options.hostname)
    const found = isIP(host) ? [host] : (await resolve(host)).map(({ address }) => address)
    assertPublic(host, found)
    // IPv4 first: many machines have no IPv6 route.
    const ordered = [...found].sort((a, b) => isIP(a) - isIP(b)).slice(0, TRIED)
    let lastError: unknown
    for (const address of ordered) {
      try {
        const socket = await dialOne({ ...options, hostname: address, servername: isIP(host) ? '' : host })
        const { remoteAddress = '' } = socket
        if (isPublic(remoteAddress)) return socket
        socket.destroy()
        throw privateAddress(host)
      } catch (error) {
        lastError = error
      }
    }
    throw lastError
  }

  return new Agent({
    headersTimeout: headersMs,
    bodyTimeout: headersMs,
    allowH2: false,
    connect: callbackify(open) as unknown as Dial,
  })
}
