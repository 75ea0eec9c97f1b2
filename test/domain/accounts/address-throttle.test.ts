import { describe, expect, test } from 'vitest'
import { MINUTE } from '../../../src/base/clock.ts'
import { addressKey, makeAddressThrottle } from '../../../src/domain/accounts/address-throttle.ts'

describe('an address stands for', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['2001:db8:1:2::1', '20010db800010002/64'],
    ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '20010db800010002/64'],
    ['fe80::1%eth0', 'fe80000000000000/64'],
    ['not an address', 'not an address'],
    ['', ''],
  ])('%j: %j', (ip, key) => {
    expect(addressKey(ip)).toBe(key)
  })

  test('another one in the next /64', () => {
    expect(addressKey('2001:db8:1:3::1')).not.toBe(addressKey('2001:db8:1:2::1'))
  })
})

test('the window slides with each failure', () => {
  let now = 0
  const addresses = makeAddressThrottle({ now: () => now })
  const welcome = () => {
    try {
      addresses.assertAllowed({ ip: '192.0.2.1' })
      return true
    } catch {
      return false
    }
  }
  for (let failure = 0; failure < 50; failure += 1) {
    expect(welcome()).toBe(true)
    addresses.failed({ ip: '192.0.2.1' })
    now += 10_000
  }
  expect(welcome()).toBe(false)
  now = 10 * MINUTE - 1
  expect(welcome()).toBe(false)
  now = 10 * MINUTE
  expect(welcome()).toBe(true)
  addresses.failed({ ip: '192.0.2.1' })
  expect(welcome()).toBe(false)
  now += 10_000
  expect(welcome()).toBe(true)
})

test('a clock that is set back keeps nobody out longer than the window', () => {
  let now = 100 * MINUTE
  const ip = '192.0.2.1'
  const addresses = makeAddressThrottle({ now: () => now })
  for (let failure = 0; failure < 50; failure += 1) addresses.failed({ ip })
  now = 0
  expect(() => addresses.assertAllowed({ ip })).toThrow()
  now = 10 * MINUTE
  expect(() => addresses.assertAllowed({ ip })).not.toThrow()
})
