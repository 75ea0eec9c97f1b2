import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** One key per purpose, so that none reveals anything about another. */
export interface Keys {
  /** Encrypts the secrets of second factors. */
  seal: Uint8Array
  /** Signs the CSRF tokens of sessions. */
  csrf: Uint8Array
  /** Hashes user names where they must not be readable. */
  names: Uint8Array
}

/** Derives the keys from the installation's secret of 32 bytes (HKDF-SHA-256, RFC 5869). */
export function deriveKeys(secret: Uint8Array): Keys {
  if (secret.length !== 32) throw new Error(`The secret key must have 32 bytes, not ${secret.length}.`)
  const derive = (purpose: string) => new Uint8Array(hkdfSync('sha256', secret, '', `svc ${purpose}`, 32))
  return { seal: derive('seal'), csrf: derive('csrf'), names: derive('names') }
}

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts and authenticates a text together with `context` (AES-256-GCM, NIST SP 800-38D). */
export function seal(key: Uint8Array, context: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context))
  const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(parts).toString('base64url')
}

/** Decrypts the result of `seal`. Throws for another key or context, and for changed bytes. */
export function unseal(key: Uint8Array, context: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64url')
  const body = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES))
    return decipher.update(body, undefined, 'utf8') + decipher.final('utf8')
  } catch (cause) {
    throw new Error(`A secret (${context}) cannot be opened: keys/secret.key is not the one it was sealed with.`, {
      cause,
    })
  }
}
