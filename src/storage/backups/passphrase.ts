import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { Identity, Recipient } from 'age-encryption'
import { openSealed, type Bytes } from './stream-cipher.ts'

// Passphrases use the format of the `age` program (age-encryption.org/v1), so that files can be opened without svc. The
// age library handles the format; scrypt and the payload use Node, which is several times faster.

/** The passphrase is wrong, or the file is damaged. */
class WrongPassphrase extends Error {
  override name = 'WrongPassphrase'
  readonly exitCode = 4
}

/** log2 of scrypt's N: about a second and 256 MiB per attempt. */
const WORK = 18
/** Highest work factor accepted from a file. */
const MAX_WORK = 20

const MARK = 'age-encryption.org/v1\n'
/** Longest header accepted, bytes; one for a passphrase has about 170. */
const MAX_HEADER = 4_096
/** Nonce and tag of an empty payload. */
const EMPTY_PAYLOAD = 32
/** What follows the header of a sealed key: its hex, a nonce and the seal, bytes. */
export const SEALED_KEY = EMPTY_PAYLOAD + 64
const SALT = 16
const FILE_KEY = 16
const TAG = 16
const CIPHER = 'chacha20-poly1305'

const age = () => import('age-encryption')
const derive = promisify<string, Uint8Array, number, object, Buffer>(scrypt)

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '')

/** Derives the key that wraps the file key. */
const wrappingKey = (passphrase: string, salt: Uint8Array, work: number): Promise<Buffer> => {
  const labelled = Buffer.concat([Buffer.from('age-encryption.org/v1/scrypt'), salt])
  const N = 2 ** work
  return derive(passphrase, labelled, 32, { N, r: 8, p: 1, maxmem: 128 * 8 * N + (1 << 20) })
}

interface Secret {
  fileKey?: Uint8Array
}

/** Wraps the file key with a passphrase, and records it. */
const recipientOf = (passphrase: string, work: number, secret: Secret): Recipient => ({
  async wrapFileKey(fileKey) {
    secret.fileKey = fileKey
    const salt = randomBytes(SALT)
    const key = await wrappingKey(passphrase, salt, work)
    const cipher = createCipheriv(CIPHER, key, Buffer.alloc(12), { authTagLength: TAG })
    const wrapped = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()])
    const { Stanza } = await age()
    return [new Stanza(['scrypt', base64(salt), String(work)], wrapped)]
  },
})

const identityOf = (passphrase: string): Identity => ({
  async unwrapFileKey(stanzas) {
    const [stanza] = stanzas
    const [kind, salt = '', work = ''] = stanza?.args ?? []
    // A passphrase must be the only recipient (age specification, scrypt stanza).
    if (stanzas.length !== 1 || kind !== 'scrypt' || !/^[1-9]\d?$/.test(work) || Number(work) > MAX_WORK) return null
    const body = Buffer.from(stanza!.body)
    const key = await wrappingKey(passphrase, Buffer.from(salt, 'base64'), Number(work))
    if (body.length !== FILE_KEY + TAG) return null
    const decipher = createDecipheriv(CIPHER, key, Buffer.alloc(12), { authTagLength: TAG })
    decipher.setAuthTag(body.subarray(FILE_KEY))
    try {
      return Buffer.concat([decipher.update(body.subarray(0, FILE_KEY)), decipher.final()])
    } catch {
      return null
    }
  },
})

async function decrypterOf(passphrase: string) {
  const { Decrypter } = await age()
  const decrypter = new Decrypter()
  decrypter.addIdentity(identityOf(passphrase))
  return decrypter
}

const orWrong = <T>(attempt: Promise<T>, hint = ''): Promise<T> =>
  attempt.catch((cause: unknown) => {
    throw new WrongPassphrase(`The passphrase does not open this backup.${hint}`, { cause })
  })

async function encrypt(text: string, passphrase: string, work: number, secret: Secret = {}): Promise<Uint8Array> {
  const { Encrypter } = await age()
  const encrypter = new Encrypter()
  encrypter.addRecipient(recipientOf(passphrase, work, secret))
  return encrypter.encrypt(text)
}

/** Encrypts a 32-byte key: an age file with its hex. */
export const sealKey = (key: Uint8Array, passphrase: string, work = WORK): Promise<Uint8Array> =>
  encrypt(Buffer.from(key).toString('hex'), passphrase, work)

const DAMAGED_KEY =
  ' If it is the right one, key.age is damaged: run svc backup passphrase on the machine whose backups these are.'

/** Decrypts a file of `sealKey`. Throws `WrongPassphrase`. */
export async function openKey(sealed: Uint8Array, passphrase: string): Promise<Uint8Array> {
  const decrypter = await decrypterOf(passphrase)
  const key = Buffer.from(await orWrong(decrypter.decrypt(sealed, 'text'), DAMAGED_KEY), 'hex')
  if (key.length !== 32) throw new WrongPassphrase('The key of this backup is damaged.')
  return key
}

/** The header of a new age file, and the secret of its payload. */
export async function newHeader(passphrase: string, work = WORK): Promise<{ header: Uint8Array; secret: Uint8Array }> {
  const secret: Secret = {}
  const header = (await encrypt('', passphrase, work, secret)).subarray(0, -EMPTY_PAYLOAD)
  return { header, secret: secret.fileKey! }
}

/** HKDF info for payloads of age files. */
export const AGE_PAYLOAD = 'payload'

/** The header of an age file; undefined if the bytes are not one. */
export async function headerOf(file: Bytes): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = []
  for await (const part of file.read(0, Math.min(file.size, MAX_HEADER))) parts.push(part)
  const text = Buffer.concat(parts).toString('latin1')
  if (!text.startsWith(MARK)) return undefined
  const end = text.indexOf('\n', text.indexOf('\n--- ') + 1)
  return text.includes('\n--- ') && end > 0 ? Buffer.from(text.slice(0, end + 1), 'latin1') : undefined
}

/** The plain bytes of an age file. Throws `WrongPassphrase`. */
export async function openFile(file: Bytes, header: Uint8Array, passphrase: string): Promise<Bytes> {
  const decrypter = await decrypterOf(passphrase)
  const secret = await orWrong(decrypter.decryptHeader(header))
  const payload: Bytes = {
    size: file.size - header.length,
    read: (start, end) => file.read(header.length + start, header.length + end),
  }
  return openSealed({ secret, purpose: AGE_PAYLOAD }, payload, 'The archive')
}
