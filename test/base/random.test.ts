import { expect, test } from 'vitest'
import { randomHex, randomText } from '../../src/base/random.ts'

test('hex has two digits a byte and is never the same', () => {
  expect([randomHex(0), randomHex(1), randomHex(32)]).toEqual([
    '',
    expect.stringMatching(/^[0-9a-f]{2}$/),
    expect.stringMatching(/^[0-9a-f]{64}$/),
  ])
  expect(new Set(Array.from({ length: 1_000 }, () => randomHex(16))).size).toBe(1_000)
})

test('text is drawn evenly from its alphabet', () => {
  // 200 signs do not divide 256: taking the remainder would draw the first 56 twice as often.
  const alphabet = Array.from({ length: 200 }, (_, index) => String.fromCharCode(256 + index)).join('')
  const drawn = Array.from({ length: 200 }, () => randomText(alphabet, 1_000))
  expect(new Set(drawn.map(({ length }) => length))).toEqual(new Set([1_000]))
  const counts = new Map<string, number>()
  for (const sign of drawn.join('')) counts.set(sign, (counts.get(sign) ?? 0) + 1)
  expect(counts.size).toBe(200)
  const shares = [...counts.values()]
  // A thousand each on average; ten standard deviations are some three hundred.
  expect([Math.min(...shares) > 680, Math.max(...shares) < 1_320]).toEqual([true, true])
})

test('text of one sign, or of none, is what it can be', () => {
  expect([randomText('x', 5), randomText('abc', 0)]).toEqual(['xxxxx', ''])
})
