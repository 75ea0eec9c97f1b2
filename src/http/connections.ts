import type { Server } from 'node:http'
import { BlockList, isIPv6, type Socket } from 'node:net'
import { fault } from '../contract/errors.ts'
import { addressKey } from '../domain/accounts/address-throttle.ts'
import { failureBody } from './failure-body.ts'

/** Retry-After in seconds, and the time in ms a refused client has to read the response. */
const RETRY_AFTER = 10
const LINGER_MS = 1_000

interface Limits {
  /** Connections per address: an IPv4 address or an IPv6 /64. */
  max: number
  /** Addresses and ranges without a limit: trusted proxies, which stand for many clients. */
  exempt: readonly string[]
  /** Called once when an address reaches its limit, and again only after all its connections have closed. */
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
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

/** Limits connections per address. Excess connections get a 429 response before anything is read from them. */
export function limitConnections(server: Server, { max, exempt, onRefused }: Limits): void {
  const open = new Map<string, number>()
  const warned = new Set<string>()
  const proxies = listOf(exempt)
  const isExempt = (ip: string): boolean =>
    proxies.check(ip.replace(/^::ffff:(?=[\d.]+$)/, ''), isIPv6(ip) && !ip.startsWith('::ffff:') ? 'ipv6' : 'ipv4')
  const serve = server.listeners('connection') as ((socket: Socket) => void)[]
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const ip = socket.remoteAddress
    // The client has already disconnected.
    if (ip === undefined) return socket.destroy()
    if (!isExempt(ip)) {
      const key = addressKey(ip)
      const count = (open.get(key) ?? 0) + 1
      if (count > max) {
        if (!warned.has(key)) onRefused(ip)
        warned.add(key)
        return refuse(socket)
      }
      open.set(key, count)
      socket.once('close', () => {
        const left = open.get(key)! - 1
        if (left > 0) open.set(key, left)
        else {
          open.delete(key)
          warned.delete(key)
        }
      })
    }
    for (const each of serve) each.call(server, socket)
  })
}
