import { openSealed, type Bytes } from './stream-cipher.ts'

// Passphrases are turned into keys by the age library, in the format of the `age` program: what is sealed here can be
// opened without svc. Only small things pass through the library; see `stream-cipher.ts` for the rest.

/** The passphrase is not the one, or what it should open is damaged. */
class WrongPassphrase extends Error {
  override name = 'WrongPassphrase'
  readonly exitCode = 4
}

/** Cost of trying a passphrase, as the binary logarithm of scrypt's N: a second or so. */
const WORK = 18

const MARK = 'age-encryption.org/v1\n'
/** Longest header that is read, bytes; that of a passphrase has some 170. */
const MAX_HEADER = 4_096
/** Nonce and seal of the empty payload. */
const EMPTY_PAYLOAD = 32

const age = () => import('age-encryption')

const openedBy = (passphrase: string) =>
  age().then(({ Decrypter }) => {
    const decrypter = new Decrypter()
    decrypter.addPassphrase(passphrase)
    return decrypter
  })

const orWrong = <T>(attempt: Promise<T>): Promise<T> =>
  attempt.catch((cause: unknown) => {
    throw new WrongPassphrase('The passphrase does not open this backup.', { cause })
  })

async function encrypt(text: string, passphrase: string, work: number): Promise<Uint8Array> {
  const { Encrypter } = await age()
  const encrypter = new Encrypter()
  encrypter.setPassphrase(passphrase)
  encrypter.setScryptWorkFactor(work)
  return encrypter.encrypt(text)
}

/** Seals a key of 32 bytes: an age file with its hex. */
export const sealKey = (key: Uint8Array, passphrase: string, work = WORK): Promise<Uint8Array> =>
  encrypt(Buffer.from(key).toString('hex'), passphrase, work)

/** Opens what `sealKey` made. Throws `WrongPassphrase`. */
export async function openKey(sealed: Uint8Array, passphrase: string): Promise<Uint8Array> {
  const decrypter = await openedBy(passphrase)
  const key = Buffer.from(await orWrong(decrypter.decrypt(sealed, 'text')), 'hex')
  if (key.length !== 32) throw new WrongPassphrase('The key of this backup is damaged.')
  return key
}

/** The header of a new age file, and the secret its payload is sealed under. */
export async function newHeader(passphrase: string, work = WORK): Promise<{ header: Uint8Array; secret: Uint8Array }> {
  const header = (await encrypt('', passphrase, work)).subarray(0, -EMPTY_PAYLOAD)
  const decrypter = await openedBy(passphrase)
  return { header, secret: await decrypter.decryptHeader(header) }
}

/** What the payloads of age files are sealed for. */
export const AGE_PAYLOAD = 'payload'

/** The header of an age file; undefined when the bytes are none. */
export async function headerOf(file: Bytes): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = []
  for await (const part of file.read(0, Math.min(file.size, MAX_HEADER))) parts.push(part)
  const text = Buffer.concat(parts).toString('latin1')
  if (!text.startsWith(MARK)) return undefined
  const end = text.indexOf('\n', text.indexOf('\n--- ') + 1)
  return text.includes('\n--- ') && end > 0 ? Buffer.from(text.slice(0, end + 1), 'latin1') : undefined
}

/** The bytes inside an age file. Throws `WrongPassphrase`. */
export async function openFile(file: Bytes, header: Uint8Array, passphrase: string): Promise<Bytes> {
  const decrypter = await openedBy(passphrase)
  const secret = await orWrong(decrypter.decryptHeader(header))
  const payload: Bytes = {
    size: file.size - header.length,
    read: (start, end) => file.read(header.length + start, header.length + end),
  }
  return openSealed({ secret, purpose: AGE_PAYLOAD }, payload)
}
