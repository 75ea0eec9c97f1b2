import ipaddr from 'ipaddr.js'
import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { ADDRESS_FAILURES } from '../../contract/limits.ts'
import { secondsUntil } from './refusals.ts'

/** Addresses kept in memory; beyond them the one that failed longest ago is forgotten. */
const MAX_ADDRESSES = 100_000

export interface Addresses {
  /** Throws `rate_limited` when too many logins from there failed lately. */
  assertWelcome(ip: string): void
  /** Counts a failed login. Successful ones never count: many people share an address. */
  failed(ip: string): void
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

  return {
    assertWelcome(ip) {
      const now = clock.now()
      const recent = (failures.get(addressKey(ip)) ?? []).filter((time) => time > now - windowMs)
      if (recent.length < ADDRESS_FAILURES.max) return
      const oldest = recent.at(-ADDRESS_FAILURES.max)!
      throw fault('rate_limited', { retryAfter: secondsUntil(oldest + windowMs, now) })
    },
    failed(ip) {
      const now = clock.now()
      const key = addressKey(ip)
      const recent = (failures.get(key) ?? []).slice(1 - ADDRESS_FAILURES.max)
      failures.delete(key)
      failures.set(key, [...recent, now])
      forget(now)
    },
  }
}
