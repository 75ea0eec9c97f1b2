import type { Server } from 'node:http'
import { BlockList, isIPv6, type Socket } from 'node:net'
import { fault } from '../contract/errors.ts'
import { addressKey } from '../domain/accounts/address-throttle.ts'
import { failureBody } from './failure-body.ts'

/** Seconds after which a refused client may try again, and ms that a refused connection has to hear it. */
const RETRY_AFTER = 10
const HEARD_MS = 1_000

interface Limits {
  /** Connections of one address: an IPv4 address, or the /64 of an IPv6 one. */
  most: number
  /** Addresses and ranges without that limit: proxies, who speak for many. */
  exempt: readonly string[]
  /** Told once for each address that reaches its limit, until it has no connection left. */
  onRefused(address: string): void
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

function refuse(socket: Socket): void {
  const body = JSON.stringify(failureBody(fault('rate_limited', { text: 'Too many connections from this address.' })))
  const head = [
    'HTTP/1.1 429 Too Many Requests',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `retry-after: ${RETRY_AFTER}`,
    'connection: close',
  ]
  socket.on('error', () => undefined)
  socket.resume()
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  setTimeout(() => socket.destroy(), HEARD_MS).unref()
}

/** Lets each address have so many connections; those beyond are refused before anything of them is read. */
export function limitConnections(server: Server, { most, exempt, onRefused }: Limits): void {
  const open = new Map<string, number>()
  const told = new Set<string>()
  const proxies = listOf(exempt)
  const isExempt = (ip: string): boolean =>
    proxies.check(ip.replace(/^::ffff:(?=[\d.]+$)/, ''), isIPv6(ip) && !ip.startsWith('::ffff:') ? 'ipv6' : 'ipv4')
  const serve = server.listeners('connection') as ((socket: Socket) => void)[]
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const ip = socket.remoteAddress
    // Gone before anybody looked at it.
    if (ip === undefined) return socket.destroy()
    if (!isExempt(ip)) {
      const key = addressKey(ip)
      const count = (open.get(key) ?? 0) + 1
      if (count > most) {
        if (!told.has(key)) onRefused(ip)
        told.add(key)
        return refuse(socket)
      }
      open.set(key, count)
      socket.once('close', () => {
        const left = open.get(key)! - 1
        if (left > 0) open.set(key, left)
        else {
          open.delete(key)
          told.delete(key)
        }
      })
    }
    for (const each of serve) each.call(server, socket)
  })
}
