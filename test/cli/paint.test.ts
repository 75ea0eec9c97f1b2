import { expect, test } from 'vitest'
import { loadPaint } from '../../src/cli/paint.ts'

test('without colours text stays as it is, whatever the style', async () => {
  const paint = await loadPaint(false)
  expect(paint.bold.hex('#ff0000').underline('a\nb')).toBe('a\nb')
  expect(paint('c')).toBe('c')
})

test('with colours it is styled', async () => {
  expect((await loadPaint(true)).bold.red('a')).toBe('\u001b[1m\u001b[31ma\u001b[39m\u001b[22m')
})
