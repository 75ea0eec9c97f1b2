import ipaddr from 'ipaddr.js'
import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { ADDRESS_FAILURES } from '../../contract/limits.ts'
import { secondsUntil } from './refusals.ts'

/** Addresses kept in memory; beyond them the one that failed longest ago is forgotten. */
const MAX_ADDRESSES = 100_000

/** Where a login comes from. */
export interface Sender {
  ip: string
  /**
   * Given where the address is that of a proxy nobody named, and so everybody's: what the login is for. It is counted by that
   * beside the address, or one guesser would keep all others out.
   */
  about?: string | undefined
}

export interface Addresses {
  /** Throws `rate_limited` when too many logins from there failed lately. */
  assertWelcome(from: Sender): void
  /** Counts a failed login. Successful ones never count: many people share an address. */
  failed(from: Sender): void
}

/** Whom an address belongs to: one IPv4 address, or the /64 of an IPv6 one, whose lower half its owner chooses freely. */
export function addressKey(ip: string): string {
  const bare = ip.split('%')[0]!
  if (!ipaddr.isValid(bare)) return ip
  const address = ipaddr.process(bare)
  if (address.kind() === 'ipv4') return address.toString()
  const network = address.toByteArray().slice(0, 8)
  return `${Buffer.from(network).toString('hex')}/64`
}

const keyOf = ({ ip, about }: Sender): string => (about === undefined ? addressKey(ip) : `${addressKey(ip)} ${about}`)

const INTERNAL = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'])

/** Whether an address is of this machine or a network of its own, where a proxy stands. */
export function isInternal(ip: string): boolean {
  const bare = ip.split('%')[0]!
  return ipaddr.isValid(bare) && INTERNAL.has(ipaddr.process(bare).range())
}

/** Failed logins by address in an exact sliding window, in the memory of this process. */
export function makeAddresses(clock: Clock): Addresses {
  const failures = new Map<string, number[]>()
  const windowMs = ADDRESS_FAILURES.per * 1_000

  // The address that failed last stands last, so those whose failures are all over stand first.
  function forget(now: number): void {
    for (const [key, times] of failures) {
      if (failures.size <= MAX_ADDRESSES && times.at(-1)! > now - windowMs) return
      failures.delete(key)
    }
  }

  /** Failures of a sender. After the clock was set back they count as of now, so that nobody is kept out for longer. */
  function timesOf(key: string, now: number): number[] {
    const times = failures.get(key) ?? []
    for (const [index, time] of times.entries()) if (time > now) times[index] = now
    return times
  }

  return {
    assertWelcome(from) {
      const now = clock.now()
      const recent = timesOf(keyOf(from), now).filter((time) => time > now - windowMs)
      if (recent.length < ADDRESS_FAILURES.max) return
      const oldest = recent.at(-ADDRESS_FAILURES.max)!
      throw fault('rate_limited', { retryAfter: secondsUntil(oldest + windowMs, now) })
    },
    failed(from) {
      const now = clock.now()
      const key = keyOf(from)
      const recent = timesOf(key, now).slice(1 - ADDRESS_FAILURES.max)
      failures.delete(key)
      failures.set(key, [...recent, now])
      forget(now)
    },
  }
}
