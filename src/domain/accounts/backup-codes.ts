import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { randomText } from '../../base/random.ts'
import type { Queue } from './job-queue.ts'

const COUNT = 8
const LENGTH = 10

/** Crockford's base32: without I, L, O and U, so that a code can be read aloud and typed from paper. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const GRAMMAR = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`)

/** 50 random bits are too few for a plain hash (OWASP ASVS 5.0, 6.5.2). One derivation takes about 50 ms. */
const SCRYPT = { N: 2 ** 14, r: 8, p: 1 }
const HASH_BYTES = 32

const derive = promisify<string, Buffer, number, typeof SCRYPT, Buffer>(scrypt)

export const newBackupCode = (): string => randomText(ALPHABET, LENGTH)

const newBackupCodes = (): string[] => Array.from({ length: COUNT }, newBackupCode)

/** Normalises a typed code; undefined if it cannot be a backup code. */
export function readBackupCode(text: string): string | undefined {
  const code = text.replace(/[\s-]/g, '').toUpperCase().replace(/[IL]/g, '1').replaceAll('O', '0')
  return GRAMMAR.test(code) ? code : undefined
}

export const newSalt = (): string => randomBytes(16).toString('hex')

/** Hashes codes one after another with the account's salt, as one job of the queue. */
export const hashBackupCodes = (queue: Queue, codes: string[], salt: string): Promise<string[]> =>
  queue(async () => {
    const hashes: string[] = []
    for (const code of codes) {
      const hash = await derive(code, Buffer.from(salt, 'hex'), HASH_BYTES, SCRYPT)
      hashes.push(hash.toString('hex'))
    }
    return hashes
  })

/** Generates backup codes and their hashes. Takes about half a second. */
export async function makeCodes(queue: Queue, salt: string) {
  const codes = newBackupCodes()
  return { codes, hashes: await hashBackupCodes(queue, codes, salt) }
}

/** Finds the stored code with this hash, in constant time. */
export function findBackupCode<C extends { hash: string }>(stored: C[], hash: string): C | undefined {
  const wanted = Buffer.from(hash, 'hex')
  let found: C | undefined
  for (const code of stored) if (timingSafeEqual(Buffer.from(code.hash, 'hex'), wanted)) found = code
  return found
}
