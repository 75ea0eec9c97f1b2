import { lookup } from 'node:dns/promises'
import { isIP, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { callbackify } from 'node:util'
import { Agent, buildConnector } from 'undici'
import { fault, type Fault } from '../contract/errors.ts'
import { isPublic } from './addresses.ts'

/** Finds the addresses of a name. */
export type Resolve = (host: string) => Promise<readonly { address: string }[]>

/** Opens a connection to an address that was found to be public. */
export type Dial = ReturnType<typeof buildConnector>

export interface ConnectionOptions {
  resolve?: Resolve
  dial?: Dial
  /** Milliseconds to connect. */
  connectMs: number
  /** Milliseconds until an answer begins. */
  headersMs: number
}

/** Addresses of one name that are tried, one after the other. */
const TRIED = 3

export const privateAddress = (host: string): Fault =>
  fault('forbidden', { text: `${host} is not on the public internet; addresses of private networks are not fetched.` })

/** Addresses of this machine itself: public ones too lead back inside. */
const ownAddresses = (): Set<string> =>
  new Set(Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address)))

const bare = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')

function assertPublic(host: string, addresses: readonly string[]): void {
  const own = ownAddresses()
  // One private address among several is enough: it would be tried as well.
  if (addresses.length === 0 || addresses.some((address) => !isPublic(address) || own.has(address)))
    throw privateAddress(host)
}

/**
 * An agent whose every connection leads to the public internet: the name is resolved here, all its addresses are examined,
 * the connection goes to one of those, and the address at the other end is examined again.
 */
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
    // Many machines have no way to IPv6 though names have such addresses.
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
