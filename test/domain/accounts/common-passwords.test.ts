import { expect, test } from 'vitest'
import { commonPasswords } from '../../../src/domain/accounts/common-passwords.ts'

test('the list has what everybody tries first, in the form it is compared in', () => {
  const list = commonPasswords()
  for (const password of ['password', '12345678', 'qwertyuiop', 'iloveyou', 'p@ssw0rd', '1q2w3e4r']) {
    expect(list.has(password)).toBe(true)
  }
  expect(list.size).toBeGreaterThanOrEqual(10_000)
  const odd = [...list].filter((password) => password.length < 8 || password !== password.toLowerCase())
  expect(odd).toEqual([])
})
