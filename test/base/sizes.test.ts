import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatSize, parseSize } from '../../src/base/sizes.ts'

test.each([
  ['0', 0],
  ['1000', 1_000],
  ['1000 B', 1_000],
  ['512k', 524_288],
  ['512KB', 524_288],
  ['1.5 MiB', 1_572_864],
  ['10GB', 10 * 1024 ** 3],
  ['10 gb', 10 * 1024 ** 3],
  ['2TiB', 2 * 1024 ** 4],
  ['1p', 1024 ** 5],
  [' 5M ', 5 * 1024 ** 2],
  ['0.1k', 102],
])('%j is so many bytes: %i', (text, bytes) => expect(parseSize(text)).toBe(bytes))

test.each([
  '',
  ' ',
  'x',
  '-1',
  '+1',
  '1,5MB',
  '.5k',
  '5.',
  '1e3',
  '0x10',
  '10 parsecs',
  '10bb',
  '1 k b',
  '9007199254740993',
  '9p9',
  '100000p',
])('%j is no size', (text) => expect(parseSize(text)).toBeUndefined())

test.each([
  [0, '0 B'],
  [1, '1 B'],
  [1_023, '1023 B'],
  [1_024, '1 KB'],
  [1_536, '1.5 KB'],
  [10_240, '10 KB'],
  [1_048_575, '1 MB'],
  [1_048_524, '1023.9 KB'],
  [1_048_576, '1 MB'],
  [1.5 * 1024 ** 3, '1.5 GB'],
  [1024 ** 4, '1 TB'],
  [1024 ** 5, '1 PB'],
  [5_000 * 1024 ** 5, '5000 PB'],
])('%i bytes are shown as %j', (bytes, text) => expect(formatSize(bytes)).toBe(text))

test('what is shown reads back within the tenth it was rounded to', () => {
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 52 }), (bytes) => {
      const shown = formatSize(bytes)
      expect(shown).toMatch(/^\d{1,4}(\.\d)? [KMGTP]?B$/)
      const back = parseSize(shown)!
      expect(Math.abs(back - bytes)).toBeLessThanOrEqual(bytes * 0.05)
    }),
  )
})
