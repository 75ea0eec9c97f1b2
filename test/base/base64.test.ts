import { expect, test } from 'vitest'
import { isBase64 } from '../../src/base/base64.ts'

test.each(['', 'TQ==', 'TWE=', 'TWFu', 'TWFuTQ==', '+/+/'])('%j is base64', (text) => {
  expect(isBase64(text)).toBe(true)
})

test.each([
  'T',
  'TQ',
  'TQ=',
  '=',
  '==',
  '===',
  '====',
  'T===',
  'TW=u',
  'TQ==TWFu',
  'TWF-',
  'TWF_',
  'TWFu\n',
  ' TWF',
  'TWFü',
])('%j is not', (text) => {
  expect(isBase64(text)).toBe(false)
})

test('a long text is judged like a short one', () => {
  const long = 'TWFu'.repeat(8 * 1_048_576)
  expect([isBase64(long), isBase64(`${long}TQ==`), isBase64(`${long}TW-u`)]).toEqual([true, true, false])
})
