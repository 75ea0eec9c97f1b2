import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeComposer } from '../../../src/cli/chat/screen/composer.ts'
import { widthOf } from '../../../src/cli/chat/screen/spans.ts'

function typed(text: string, ...keys: string[]) {
  const composer = makeComposer()
  composer.insert(text)
  for (const key of keys) composer.key(key)
  return composer
}

test.each([
  ['a family counts as one character', '👨‍👩‍👧x', ['left', 'backspace'], 'x'],
  ['a letter goes with its marks', 'ae\u0301', ['backspace'], 'a'],
  ['a word is cut and put back', 'one two', ['ctrl-w', 'ctrl-a', 'ctrl-y'], 'twoone '],
  ['a line is cut up to its beginning', 'one\ntwo', ['ctrl-u'], 'one\n'],
  ['and from there on', 'one\ntwo', ['up', 'home', 'ctrl-k'], '\ntwo'],
  ['the next word is cut', 'one two', ['home', 'alt-d'], ' two'],
  ['deleting at the ends does nothing', 'a', ['delete', 'home', 'backspace'], 'a'],
])('%s', (_, text, keys, wanted) => {
  expect(typed(text, ...keys).text()).toBe(wanted)
})

test('up and down go by what is seen, and tell when there is no such line', () => {
  const composer = typed('first line\nsecond')
  composer.layout(40)
  expect(composer.key('up')).toBe(true)
  expect(composer.before()).toBe('first ')
  expect(composer.key('up')).toBe(false)
  expect(composer.key('down')).toBe(true)
  expect(composer.before()).toBe('first line\nsecond')
})

test('lines are broken between words, wide characters count twice', () => {
  const composer = typed('eins zwei drei')
  expect(composer.layout(9)).toEqual({ lines: ['eins ', 'zwei drei', ''], row: 2, column: 0 })
  expect(typed('日本語').layout(4)).toEqual({ lines: ['日本', '語'], row: 1, column: 2 })
})

test('whatever is written and wherever one goes, the lines hold all of it and the cursor is among them', () => {
  const keys = [
    'left',
    'right',
    'up',
    'down',
    'home',
    'end',
    'backspace',
    'delete',
    'ctrl-w',
    'ctrl-u',
    'ctrl-k',
    'ctrl-y',
    'alt-b',
    'alt-f',
  ]
  const step = fc.oneof(
    fc.constantFrom(...keys).map((key) => ({ key })),
    fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => ({ text: text.replace(/\p{Cc}/gu, '') })),
    fc.constant({ text: '\n' }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.integer({ min: 4, max: 30 }), (steps, width) => {
      const composer = makeComposer()
      for (const one of steps) {
        if ('key' in one) composer.key(one.key)
        else composer.insert(one.text)
        const { lines, row, column } = composer.layout(width)
        expect(lines.join('')).toBe(composer.text().replaceAll('\n', ''))
        expect(row).toBeLessThan(lines.length)
        expect(column).toBeLessThanOrEqual(widthOf(lines[row]!))
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width)
      }
    }),
    { numRuns: 200 },
  )
})
