import { describe, expect, test } from 'vitest'
import {
  assertContent,
  assertEmoji,
  containsPattern,
  fold,
  readTimestamp,
  readRoomName,
} from '../../../src/domain/chat/message-text.ts'

const refused = expect.objectContaining({ code: 'bad_request' }) as Error

describe('upper and lower case are the same', () => {
  test.each([
    ['Straße', 'STRASSE'],
    ['Straße', 'STRAẞE'],
    ['äöü', 'ÄÖÜ'],
    ['ΟΔΟΣ', 'οδος'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['İstanbul', 'i̇stanbul'],
    ['ﬁnal', 'FINAL'],
    ['Ǆ', 'ǆ'],
    ['дом', 'ДОМ'],
    ['e\u0301', 'É'],
    ['𐐨', '𐐀'],
  ])('in %s and %s', (one, other) => expect(fold(one)).toBe(fold(other)))

  test('but letters are not', () => {
    expect(fold('İ')).not.toBe(fold('i'))
    expect(fold('a')).not.toBe(fold('ä'))
  })
})

describe('a search', () => {
  test.each([
    ['50%', '%50\\%%'],
    ['a_b', '%A\\_B%'],
    ['c:\\x', '%C:\\\\X%'],
    ['\\%', '%\\\\\\%%'],
  ])('takes %s as it stands', (query, pattern) => expect(containsPattern(query)).toBe(pattern))

  test('has at most 200 characters, however many bytes', () => {
    expect(containsPattern('👍'.repeat(200))).toContain('👍')
    expect(() => containsPattern('👍'.repeat(201))).toThrow(refused)
  })
})

describe('an emoji', () => {
  test.each(['👍', '👍🏽', '👨‍👩‍👧‍👦', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🇩🇪', '1️⃣', '❤️', 'x', 'é'])('may be %s', (emoji) => {
    expect(() => assertEmoji(emoji)).not.toThrow()
  })
  test.each([
    ['two', '👍👍'],
    ['a word', 'ok'],
    ['a blank', ' '],
    ['a no-break blank', '\u00a0'],
    ['nothing to be seen', '\u200b'],
    ['a line feed', '\n'],
    ['a mark without its letter', '\u0301'],
    ['one of more than 32 bytes', `a${'\u0301'.repeat(16)}`],
  ])('may not be %s', (_, emoji) => expect(() => assertEmoji(emoji)).toThrow(refused))
})

describe('a message', () => {
  test.each([
    ['a', 16_384],
    ['ä', 8_192],
    ['👍', 4_096],
  ])('of %s may have 16 KiB, not a byte more', (letter, most) => {
    expect(() => assertContent(letter.repeat(most))).not.toThrow()
    expect(() => assertContent(`${letter.repeat(most)}a`)).toThrow(refused)
  })
})

describe('a room is called', () => {
  test('by its name without the blanks around it', () =>
    expect(readRoomName('  Difference  engines ')).toBe('Difference  engines'))
  test.each(['', '   ', 'a\nb', 'a\u0007', 'a\u202eb'])('never %j', (name) =>
    expect(() => readRoomName(name)).toThrow(refused),
  )
})

describe('a moment', () => {
  test.each([
    ['2026-11-21T12:00:00.001Z', Date.UTC(2026, 10, 21, 12, 0, 0, 1)],
    ['2026-11-21T12:00:00Z', Date.UTC(2026, 10, 21, 12)],
    ['2026-11-21T13:00:00+01:00', Date.UTC(2026, 10, 21, 12)],
  ])('may be %s', (text, ms) => expect(readTimestamp('after', text)).toBe(ms))
  test.each(['', 'now', '0', '1700000000000', '2026-11-21', '2026-11-21T12:00:00', '2026-13-21T12:00:00Z'])(
    'may not be %j',
    (text) => expect(() => readTimestamp('after', text)).toThrow(refused),
  )
})
