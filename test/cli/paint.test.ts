import { expect, test } from 'vitest'
import { makePaint } from '../../src/cli/paint.ts'

const paint = makePaint('colored')
const ESC = '\u001b['

test('styles begin and end around a text, the inner one within the outer', () => {
  expect(paint.bold('a')).toBe(`${ESC}1ma${ESC}22m`)
  expect(paint.bold.red('a')).toBe(`${ESC}1m${ESC}31ma${ESC}39m${ESC}22m`)
  expect(paint.dim('')).toBe('')
})

test('an outer style goes on after an inner one, and begins again after each line break', () => {
  expect(paint.red(`a${paint.cyan('b')}c`)).toBe(`${ESC}31ma${ESC}36mb${ESC}39m${ESC}31mc${ESC}39m`)
  expect(paint.bold('a\r\nb')).toBe(`${ESC}1ma${ESC}22m\r\n${ESC}1mb${ESC}22m`)
})

test.each([
  ['#ff0000', 196],
  ['#0d3b66', 24],
  ['#000000', 16],
  ['#ffffff', 231],
  ['#808080', 244],
  ['red;1mevil', 16],
])('%s is shown as colour %i of 256', (hex, number) => {
  expect(paint.hex(hex)('a')).toBe(`${ESC}38;5;${number}ma${ESC}39m`)
})

test('plain text stays as it is, whatever the style', () => {
  const plain = makePaint('plain')
  expect(plain.bold.hex('#ff0000').underline('a\nb')).toBe('a\nb')
})
