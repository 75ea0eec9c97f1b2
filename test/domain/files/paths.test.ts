import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isFault } from '../../../src/contract/errors.ts'
import { assertReach, nameKey, ownSegments, pathOf, segmentsOf } from '../../../src/domain/files/paths.ts'

/** Texts as they might come: names, separators, and what should never pass. */
const part = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.constantFrom(
    '/',
    '//',
    '.',
    '..',
    '\\',
    '\0',
    '\u0085',
    '\u007f',
    '\ud800',
    'e\u0301',
    '\u00e9',
    'Teamchat',
    'a'.repeat(255),
    'ü'.repeat(128),
  ),
)
const text = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''))

const outcome = (read: (path: string) => readonly string[], path: string): readonly string[] | 'bad_path' => {
  try {
    return read(path)
  } catch (error) {
    if (isFault(error, 'bad_path')) return 'bad_path'
    throw error
  }
}

describe('a path', () => {
  test('is taken apart so that it can be put together again, or refused: never repaired', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          text.map((rest) => `/${rest}`),
        ),
        (path) => {
          const segments = outcome(segmentsOf, path)
          if (segments === 'bad_path') return
          expect(pathOf(segments)).toBe(path)
          expect(Buffer.byteLength(path)).toBeLessThanOrEqual(4_096)
          expect(segments.length).toBeLessThanOrEqual(64)
          for (const segment of segments) {
            expect(segment).not.toBe('')
            expect(['.', '..']).not.toContain(segment)
            expect(Buffer.byteLength(segment)).toBeLessThanOrEqual(255)
            // oxlint-disable-next-line no-control-regex
            expect(segment).not.toMatch(/[/\\\u0000-\u001f\u007f-\u009f]/)
            expect(segment.isWellFormed()).toBe(true)
          }
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('of plain names always passes', () => {
    const name = fc
      .string({
        unit: fc.constantFrom('a', 'b', 'Z', '0', '9', ' ', '-', '_', '.', '~', '(', 'ü', 'ß', 'ж', '日', '😀'),
        minLength: 1,
        maxLength: 20,
      })
      .filter((each) => !/^\.{1,2}$/.test(each))
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 20 }), (names) => {
        expect(segmentsOf(`/${names.join('/')}`)).toEqual(names)
      }),
    )
  })

  test('to something of one’s own is neither the root nor in the rooms’ folder', () => {
    expect(segmentsOf('/')).toEqual([])
    for (const path of ['/', '/Teamchat', '/teamchat/x', '/TEAMCHAT'])
      expect([path, outcome(ownSegments, path)]).toEqual([path, 'bad_path'])
    expect(ownSegments('/x/Teamchat')).toEqual(['x', 'Teamchat'])
  })
})

test('two names are the same when their normal form is, and only then', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      expect(nameKey(name.normalize('NFD'))).toBe(nameKey(name.normalize('NFC')))
      expect(nameKey(nameKey(name))).toBe(nameKey(name))
    }),
  )
  expect([
    nameKey('a') === nameKey('A'),
    nameKey('ﬁ') === nameKey('fi'),
    nameKey('\u00e9') === nameKey('e\u0301'),
  ]).toEqual([false, false, true])
})

test('there is room at a place for what reaches so far below it that it still has a path', () => {
  const place = ['a', 'b']
  for (const below of [
    { depth: 0, bytes: 0 },
    { depth: 62, bytes: 0 },
    { depth: 0, bytes: 4_092 },
  ])
    expect(() => assertReach(place, below)).not.toThrow()
  for (const below of [
    { depth: 63, bytes: 0 },
    { depth: 0, bytes: 4_093 },
  ])
    expect(() => assertReach(place, below)).toThrow(expect.objectContaining({ code: 'bad_path' }) as Error)
})
