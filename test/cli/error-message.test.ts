import { expect, test } from 'vitest'
import { errorMessage } from '../../src/cli/error-message.ts'
import { errors, Fault, fault, type ErrorCode } from '../../src/contract/errors.ts'

test.each(Object.keys(errors) as ErrorCode[])('what the contract says of %s is said in English', (code) => {
  const sentence = errorMessage(new Fault(code, { text: `${errors[code][1]} (request 7)` }))
  expect(sentence).not.toMatch(/Nicht gefunden|Fehler/)
  if (code !== 'maintenance') expect(sentence).toMatch(/ \(request 7\)$/)
  expect(errorMessage(fault(code))).not.toMatch(/Nicht gefunden|Fehler/)
})

test('what a server says in words of its own stays', () => {
  expect(errorMessage(fault('not_found', { text: 'There is no option "x".' }))).toBe('There is no option "x".')
})

test.each([
  ['rate_limited', 12, /^Too many requests; try again in 12 s\.$/],
  ['account_locked', 900, /^Too many failed attempts; try again at (\d{4}-\d\d-\d\d )?\d\d:\d\d\.$/],
  ['account_locked', 172_800, /; try again at \d{4}-\d\d-\d\d \d\d:\d\d\.$/],
] as const)('%s after %d s names the time of the next attempt', (code, retryAfter, expected) => {
  expect(errorMessage(fault(code, { retryAfter }))).toMatch(expected)
})
