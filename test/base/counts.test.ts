import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatCount } from '../../src/base/counts.ts'

test('whole numbers are written as the language does', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (count) => {
      expect(formatCount(count)).toBe(count.toLocaleString('en'))
    }),
  )
})
