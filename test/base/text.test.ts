import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { byteLength, fitsBytes, isSound, printable } from '../../src/base/text.ts'

describe('text for a terminal', () => {
  test.each([
    ['plain ü 😀', 'plain ü 😀'],
    ['\u001b[31mred', '\ufffd[31mred'],
    ['a\nb\tc\rd\0e', 'a\ufffdb\ufffdc\ufffdd\ufffde'],
    ['\u007f\u0080\u009f', '\ufffd\ufffd\ufffd'],
    ['invoice\u202efdp.exe', 'invoice\ufffdfdp.exe'],
    ['\u200e\u200f\u2066\u2069', '\ufffd\ufffd\ufffd\ufffd'],
  ])('%j is shown as %j', (text, shown) => expect(printable(text)).toBe(shown))
})

test.each([
  ['', true],
  ['ü 😀 \n', true],
  ['\ufffd', true],
  ['a\0', false],
  ['\ud83d', false],
  ['\ude00\ud83d', false],
  ['\ud83d\ude00', true],
])('%j can be stored unchanged: %s', (text, sound) => expect(isSound(text)).toBe(sound))

describe('length in bytes', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['ü', 2],
    ['€', 3],
    ['😀', 4],
  ])('of %j is %i', (text, bytes) => expect(byteLength(text)).toBe(bytes))

  test('is known to fit without counting, and the answer is the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.nat({ max: 120 }), (text, max) => {
        expect(fitsBytes(text, max)).toBe(Buffer.byteLength(text) <= max)
      }),
    )
  })
})
