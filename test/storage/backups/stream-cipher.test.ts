import { Readable } from 'node:stream'
import { Decrypter, Encrypter } from 'age-encryption'
import { describe, expect, test } from 'vitest'
import { readAll } from '../../../src/storage/backups/file-bytes.ts'
import {
  AGE_PAYLOAD,
  headerOf,
  newHeader,
  openFile,
  openKey,
  sealKey,
} from '../../../src/storage/backups/passphrase.ts'
import { openSealed, seal, sealedSize, type Bytes } from '../../../src/storage/backups/stream-cipher.ts'
import { bytesOf } from '../../support/contents.ts'

/** Cheap enough for tests. */
const WORK = 2
const CHUNK = 64 * 1024
const key = { secret: bytesOf(32), purpose: 'test' }

const bytesIn = (data: Uint8Array): Bytes => ({
  size: data.length,
  read: (start, end) => Readable.from([data.subarray(start, end)]),
})

async function* pieces(data: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < data.length; at += size) {
    await Promise.resolve()
    yield data.subarray(at, at + size)
  }
}

const sealed = (data: Uint8Array, piece = 10_000): Promise<Buffer> => readAll(seal(key, pieces(data, piece)))

const opened = async (data: Uint8Array, from = 0, to?: number): Promise<Buffer> => {
  const plain = await openSealed(key, bytesIn(data), 'The object')
  return readAll(plain.read(from, to ?? plain.size))
}

describe('a sealed stream', () => {
  test.each([0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 17])(
    'of %i bytes opens as it was',
    async (size) => {
      const data = bytesOf(size)
      const made = await sealed(data)
      expect(made.length).toBe(sealedSize(size))
      expect((await opened(made)).equals(data)).toBe(true)
    },
  )

  test('opens in any part', async () => {
    const data = bytesOf(3 * CHUNK + 500)
    const made = await sealed(data)
    for (const [from, to] of [
      [0, 1],
      [CHUNK - 1, CHUNK + 1],
      [CHUNK, 2 * CHUNK],
      [3 * CHUNK, 3 * CHUNK + 500],
      [5, data.length],
    ] as const)
      expect((await opened(made, from, to)).equals(data.subarray(from, to)), `${from}-${to}`).toBe(true)
  })

  test('is never the same twice', async () => {
    expect((await sealed(bytesOf(10))).equals(await sealed(bytesOf(10)))).toBe(false)
  })

  test.each([
    ['one bit changed', (made: Buffer) => made.with(100, made[100]! ^ 1)],
    ['its end cut off', (made: Buffer) => made.subarray(0, -1)],
    ['its last chunk cut off', (made: Buffer) => made.subarray(0, 16 + 2 * (CHUNK + 16))],
    [
      'two chunks exchanged',
      (made: Buffer) => {
        const at = (index: number) => made.subarray(16 + index * (CHUNK + 16), 16 + (index + 1) * (CHUNK + 16))
        return Buffer.concat([made.subarray(0, 16), at(1), at(0), at(2)])
      },
    ],
    ['a byte more', (made: Buffer) => Buffer.concat([made, Buffer.alloc(1)])],
    ['nothing left', () => Buffer.alloc(0)],
  ])('does not open with %s', async (_, change) => {
    const made = await sealed(bytesOf(3 * CHUNK))
    await expect(opened(change(made) as Uint8Array)).rejects.toThrow(/^The object (is truncated|was changed)/)
  })

  test('does not open for another purpose', async () => {
    const made = await sealed(bytesOf(10))
    const other = openSealed({ ...key, purpose: 'other' }, bytesIn(made), 'The object').then((plain) =>
      readAll(plain.read(0, 10)),
    )
    await expect(other).rejects.toThrow(/another key/)
  })
})

describe('a passphrase', () => {
  test('opens a key that was sealed with it, and no other does', async () => {
    const secret = bytesOf(32)
    const made = await sealKey(secret, 'difference engine', WORK)
    expect(Buffer.from(await openKey(made, 'difference engine'))).toEqual(secret)
    await expect(openKey(made, 'another engine')).rejects.toThrow('does not open')
    await expect(openKey(made.subarray(0, -1), 'difference engine')).rejects.toThrow('does not open')
  })

  test('makes files that every program for age reads, and reads theirs', async () => {
    const data = bytesOf(2 * CHUNK + 3)
    const { header, secret } = await newHeader('difference engine', WORK)
    const ours = Buffer.concat([header, await readAll(seal({ secret, purpose: AGE_PAYLOAD }, pieces(data, 999)))])
    const decrypter = new Decrypter()
    decrypter.addPassphrase('difference engine')
    expect(Buffer.from(await decrypter.decrypt(ours)).equals(data)).toBe(true)

    const encrypter = new Encrypter()
    encrypter.setPassphrase('difference engine')
    encrypter.setScryptWorkFactor(WORK)
    const theirs = bytesIn(await encrypter.encrypt(data))
    const plain = await openFile(theirs, (await headerOf(theirs))!, 'difference engine')
    expect((await readAll(plain.read(0, plain.size))).equals(data)).toBe(true)
  })

  test('is not asked for by a file that is no age file', async () => {
    expect(await headerOf(bytesIn(bytesOf(5_000)))).toBeUndefined()
    expect(await headerOf(bytesIn(Buffer.from('age-encryption.org/v1\nno end')))).toBeUndefined()
    expect(await headerOf(bytesIn(Buffer.alloc(0)))).toBeUndefined()
  })
})
