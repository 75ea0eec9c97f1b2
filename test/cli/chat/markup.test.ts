import { expect, test } from 'vitest'
import { parseMarkup } from '../../../src/cli/chat/screen/markup.ts'
import { clip, fit, lineWidth, wrap } from '../../../src/cli/chat/screen/spans.ts'
import { stepsOf } from '../../support/work.ts'

const plain = (content: string): string[] =>
  parseMarkup(content, 'ada').map((line) => line.map(({ text }) => text).join(''))

test('emphasis, code, links and names are shown, not their marks', () => {
  expect(parseMarkup('**bold** and `a*b` _so_ snake_case https://example.org/x_y @ada, @bob', 'ada')).toEqual([
    [
      { text: 'bold', bold: true },
      { text: ' and ' },
      { text: 'a*b', color: 'cyan' },
      { text: ' ' },
      { text: 'so', italic: true },
      { text: ' snake_case ' },
      { text: 'https://example.org/x_y', underline: true },
      { text: ' ' },
      { text: '@ada', color: 'yellow', bold: true, inverse: true },
      { text: ', ' },
      { text: '@bob', bold: true },
    ],
  ])
})

test('code keeps its lines as they are', () => {
  expect(plain('see\n```js\n  **x**\n\ty\n```\ndone')).toEqual(['see', '▏   **x**', '▏     y', 'done'])
})

test('nothing but text is left of control and bidirectional characters', () => {
  expect(plain('a\u001b[2Jb\r\nc\u009bd\u202ee\u2028f\u0000')).toEqual(['a\ufffd[2Jb', 'c\ufffdd\ufffde\ufffdf\ufffd'])
})

test('a letter carries no more marks than a language puts on it', () => {
  expect(plain(`a${'\u0301'.repeat(500)}b`)).toEqual([`a${'\u0301'.repeat(6)}b`])
})

test('marks without an end take little work', async () => {
  const steps = await stepsOf(() => {
    for (const mark of ['**', '`', '_a', '@', '*'.repeat(3)]) plain(mark.repeat(8_000 / mark.length))
  })
  expect(steps).toBeLessThan(1_000)
})

test('lines are broken at blanks, long words anywhere, and nothing is wider than asked', () => {
  const text = (line: { text: string }[]) => line.map((span) => span.text).join('')
  expect(wrap([{ text: 'one two ' }, { text: 'three', bold: true }], 8).map(text)).toEqual(['one two ', 'three'])
  expect(wrap([{ text: '日本語テキスト' }], 5).map(text)).toEqual(['日本', '語テ', 'キス', 'ト'])
  expect(wrap([{ text: 'x'.repeat(7) }], 3).map(text)).toEqual(['xxx', 'xxx', 'x'])
  expect(clip([{ text: '日本語' }], 4)).toEqual([{ text: '日…' }])
  expect(clip([{ text: 'abc' }], 0)).toEqual([])
  expect(lineWidth(fit([{ text: '日本' }], 7))).toBe(7)
})
