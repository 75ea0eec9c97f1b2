import ipaddr from 'ipaddr.js'
import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { ADDRESS_FAILURES } from '../../contract/limits.ts'
import { secondsUntil } from './account-faults.ts'

/** AddressThrottle in memory; beyond this, the one whose last failure is oldest is dropped. */
const MAX_ADDRESSES = 100_000

export interface LoginSource {
  ip: string
  /**
   * The account or pending login, set if the address belongs to a proxy that is not configured and is therefore shared by
   * everybody. Failures count per address and subject then, or one attacker would lock everybody out.
   */
  subject?: string | undefined
}

export interface AddressThrottle {
  /** Throws `rate_limited` after too many recent failures. */
  assertAllowed(from: LoginSource): void
  /** Counts a failed login. Successful logins never count: many people share an address. */
  failed(from: LoginSource): void
}

/** The owner of an address: one IPv4 address, or the /64 prefix of an IPv6 address, whose owner chooses the lower half. */
export function addressKey(ip: string): string {
  const bare = ip.split('%')[0]!
  if (!ipaddr.isValid(bare)) return ip
  const address = ipaddr.process(bare)
  if (address.kind() === 'ipv4') return address.toString()
  const network = address.toByteArray().slice(0, 8)
  return `${Buffer.from(network).toString('hex')}/64`
}

const keyOf = ({ ip, subject }: LoginSource): string =>
  subject === undefined ? addressKey(ip) : `${addressKey(ip)} ${subject}`

const INTERNAL = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'])

/** Whether an address is loopback or private, where a reverse proxy runs. */
export function isInternal(ip: string): boolean {
  const bare = ip.split('%')[0]!
  return ipaddr.isValid(bare) && INTERNAL.has(ipaddr.process(bare).range())
}

/** Failed logins per address in an exact sliding window, in memory. */
export function makeAddressThrottle(clock: Clock): AddressThrottle {
  const failures = new Map<string, number[]>()
  const windowMs = ADDRESS_FAILURES.per * 1_000

  // Ordered by last failure: expired entries come first.
  function forget(now: number): void {
    for (const [key, times] of failures) {
      if (failures.size <= MAX_ADDRESSES && times.at(-1)! > now - windowMs) return
      failures.delete(key)
    }
  }

  /** Failure times of a key. Times after a clock set back count as now, so that nobody stays locked out longer. */
  function timesOf(key: string, now: number): number[] {
    const times = failures.get(key) ?? []
    for (const [index, time] of times.entries()) if (time > now) times[index] = now
    return times
  }

  return {
    assertAllowed(from) {
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
