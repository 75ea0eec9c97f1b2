import fc from 'fast-check'
import { expect, test } from 'vitest'
import { iso } from '../../src/base/clock.ts'

test('a time is written as the platform writes it', () => {
  fc.assert(
    fc.property(fc.integer({ min: -8.64e15, max: 8.64e15 }), fc.nat(86_400_000), (ms, later) => {
      // Two times, mostly of one day, since the date is kept from one to the next.
      for (const time of [ms, Math.min(ms + later, 8.64e15)]) expect(iso(time)).toBe(new Date(time).toISOString())
    }),
  )
})

test('what is no time is refused', () => {
  for (const ms of [NaN, Infinity, -Infinity, 9e15]) expect(() => iso(ms)).toThrow(RangeError)
})
