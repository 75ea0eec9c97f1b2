import { generateSync } from 'otplib'
import { describe, expect, test } from 'vitest'
import { isTotpCode, matchingStep, newTotpSecret } from '../../../src/domain/accounts/totp.ts'

/** The secret of RFC 6238 appendix B, `12345678901234567890`, in base32. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

describe('RFC 6238 appendix B, SHA-1, the last six digits', () => {
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at second %d the code is %s', (second, code) => {
    const step = Math.floor(second / 30)
    expect(matchingStep(SECRET, code, second * 1_000)).toBe(step)
    expect(matchingStep(SECRET, code, (second + 30) * 1_000)).toBe(step)
    expect(matchingStep(SECRET, code, (second - 30) * 1_000)).toBe(step)
    expect(matchingStep(SECRET, code, (second + 60) * 1_000)).toBeUndefined()
    expect(matchingStep(SECRET, code, (second - 60) * 1_000)).toBeUndefined()
  })
})

test('a step lasts exactly thirty seconds', () => {
  const code = generateSync({ secret: SECRET, epoch: 1_000_020 })
  const steps = [1_000_020_000 - 1, 1_000_020_000, 1_000_049_999, 1_000_050_000].map((now) =>
    matchingStep(SECRET, code, now),
  )
  expect(steps).toEqual([33_334, 33_334, 33_334, 33_334])
  expect(matchingStep(SECRET, code, 1_000_020_000 - 30_001)).toBeUndefined()
  expect(matchingStep(SECRET, code, 1_000_020_000 - 30_000)).toBe(33_334)
  expect(matchingStep(SECRET, code, 1_000_079_999)).toBe(33_334)
  expect(matchingStep(SECRET, code, 1_000_080_000)).toBeUndefined()
})

test.each(['', '12345', '1234567', '12345a', ' 12345', '12345\n', '１２３４５６', '-12345', '1e5000'])(
  '%j is no code',
  (text) => {
    expect(isTotpCode(text)).toBe(false)
    expect(matchingStep(SECRET, text, 59_000)).toBeUndefined()
  },
)

test('secrets have 160 bits in base32 without padding, and are never the same', () => {
  const secrets = Array.from({ length: 50 }, newTotpSecret)
  for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(new Set(secrets).size).toBe(50)
})
