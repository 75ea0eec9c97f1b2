import { expect, test } from 'vitest'
import { deriveKeys, seal, unseal } from '../../../src/domain/accounts/sealing.ts'

const key = deriveKeys(new Uint8Array(32).fill(1)).seal

test('what was sealed is opened with the same key and context only', () => {
  const sealed = seal(key, 'user 1', 'geheim')
  expect(unseal(key, 'user 1', sealed)).toBe('geheim')
  expect(() => unseal(key, 'user 2', sealed)).toThrow(/cannot be opened/)
  expect(() => unseal(deriveKeys(new Uint8Array(32).fill(2)).seal, 'user 1', sealed)).toThrow(/secret\.key/)
})

test('the same text is sealed differently each time', () => {
  const sealed = Array.from({ length: 20 }, () => seal(key, 'user 1', 'geheim'))
  expect(new Set(sealed).size).toBe(20)
  expect(sealed.join()).not.toContain(Buffer.from('geheim').toString('base64url'))
})

test('a changed, cut or lengthened text is not opened', () => {
  const bytes = Buffer.from(seal(key, 'user 1', 'geheim'), 'base64url')
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    expect(() => unseal(key, 'user 1', changed.toString('base64url'))).toThrow(/cannot be opened/)
  }
  for (const other of [
    bytes.subarray(1),
    bytes.subarray(0, -1),
    Buffer.concat([bytes, bytes]),
    Buffer.alloc(0),
    Buffer.alloc(20),
  ]) {
    expect(() => unseal(key, 'user 1', other.toString('base64url'))).toThrow(/cannot be opened/)
  }
})

test('one secret gives keys that differ, the same every time', () => {
  const { seal: first, names, csrf } = deriveKeys(new Uint8Array(32).fill(9))
  expect(new Set([first, names, csrf].map((key) => Buffer.from(key).toString('hex'))).size).toBe(3)
  expect(deriveKeys(new Uint8Array(32).fill(9))).toEqual({ seal: first, names, csrf })
  expect(deriveKeys(new Uint8Array(32).fill(8)).names).not.toEqual(names)
  expect(() => deriveKeys(new Uint8Array(31))).toThrow(/32 bytes/)
})
