import { createReadStream } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { TAR_BLOCK, tarEnd, tarHeader, tarPadding, type TarHeader } from '../../base/tar-writer.ts'
import { randomHex } from '../../base/random.ts'
import { fromSystemError } from '../../base/errors.ts'
import { streamDurably } from '../../host/durable-files.ts'
import { clearUnfinished, unfinishedName } from '../../host/unfinished-files.ts'
import type { BlobStore } from '../contents/blobs/blobs.ts'
import { readAll, isSound, openBytes, verified } from './file-bytes.ts'
import {
  DamagedBackup,
  databasePieces,
  DATABASE_PIECE,
  isBackupId,
  MAX_MANIFEST,
  objectsOf,
  parseManifest,
  readLists,
  type Manifest,
  type Piece,
} from './backup-manifest.ts'
import { AGE_PAYLOAD, headerOf, newHeader, openFile } from './passphrase.ts'
import { HEADER_FILE, headerText, parseHeader } from './repository.ts'
import type { BackupSink, BackupSource, Draft } from './source.ts'
import { seal, type Bytes } from './stream-cipher.ts'

// A backup in one file: a tar archive of a repository with only that backup, in a fixed order and with fixed headers.
// The reader accepts exactly the bytes that the writer produces, and nothing ambiguous.

const manifestName = (id: string): string => `snapshots/${id}.json`
const objectName = (sha256: string): string => `objects/${sha256.slice(0, 2)}/${sha256}`
const MANIFEST_NAME = /^snapshots\/(.{20})\.json$/
/** Longest `svc-backup.json`, bytes. */
const MAX_HEADER = 1_024

/** Mode 0600: the extracted files include keys. */
const headOf = ({ name, size, mtime }: TarHeader): Uint8Array => tarHeader({ name, size, mtime, mode: 0o600 })

const secondsOf = (created_at: string): number => Math.floor(Date.parse(created_at) / 1_000)

/** Bytes of an entry, with header and padding. */
const lengthOf = (entry: TarHeader): number => headOf(entry).length + entry.size + tarPadding(entry.size).length

interface Entry extends TarHeader {
  content(): AsyncIterable<Uint8Array>
}

async function* tarOf(entries: Iterable<Entry>, stored: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for (const entry of entries) {
    yield headOf(entry)
    let left = entry.size
    for await (const part of entry.content()) {
      left -= part.length
      if (left < 0) break
      stored(part.length)
      yield part
    }
    if (left !== 0) throw new DamagedBackup(`${entry.name} differs in length from the database.`)
    yield tarPadding(entry.size)
  }
  yield tarEnd()
}

const once = (data: Uint8Array): AsyncIterable<Uint8Array> =>
  (async function* () {
    await Promise.resolve()
    yield data
  })()

/** Returns the bytes of any object of a draft. */
function contentsOf(draft: Draft, store: BlobStore): (sha256: string) => AsyncIterable<Uint8Array> {
  const pieces = new Map(
    databasePieces(draft.manifest.database).map(({ sha256, size }, index) => [sha256, { index, size }]),
  )
  return (sha256) => {
    const small = draft.small.get(sha256)
    if (small) return once(small)
    const piece = pieces.get(sha256)
    if (!piece) return store.read(sha256)
    const start = piece.index * DATABASE_PIECE
    return createReadStream(draft.database!, { start, end: start + piece.size - 1, highWaterMark: DATABASE_PIECE }).on(
      'error',
      () => undefined,
    )
  }
}

function* entriesOf(manifest: Manifest, draft: Draft, store: BlobStore): Generator<Entry> {
  const mtime = secondsOf(manifest.created_at)
  const header = { format: 1, repository: randomHex(16), server_id: manifest.server_id, encrypted: false } as const
  const fixed = [
    [HEADER_FILE, headerText(header)],
    [manifestName(manifest.id), `${JSON.stringify(manifest)}\n`],
  ] as const
  for (const [name, text] of fixed) {
    const data = Buffer.from(text)
    yield { name, size: data.length, mtime, content: () => once(data) }
  }
  const contentOf = contentsOf(draft, store)
  for (const { sha256, size } of objectsOf(manifest, draft.blobs))
    yield { name: objectName(sha256), size, mtime, content: () => contentOf(sha256) }
}

async function* encrypted(passphrase: string, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { header, secret } = await newHeader(passphrase)
  yield header
  yield* seal({ secret, purpose: AGE_PAYLOAD }, content)
}

/**
 * Creates an archive; with a passphrase, inside an age file. An existing file is never replaced: the error is EEXIST.
 * The archive is renamed to its name when complete; abandoned ones in its folder are removed first.
 */
export const newArchive = (file: string, passphrase: string | undefined, store: BlobStore): BackupSink => ({
  place: file,
  encrypted: passphrase !== undefined,
  repository: undefined,
  repaired: () => 0,
  standing: () => Promise.resolve(undefined),
  async takeBlobs(blobs) {
    const missing = new Set<string>()
    // The manifest comes first in an archive, so all contents are read before it is written.
    for (const blob of blobs) {
      const { sha256 } = blob
      if (!(await store.has(sha256)) || !(await isSound(blob, store.read(sha256)))) missing.add(sha256)
    }
    return missing
  },
  async finish(draft, stored) {
    const { objects, bytes } = draft.manifest.totals
    const manifest: Manifest = { ...draft.manifest, added: { objects, bytes } }
    const tar = tarOf(entriesOf(manifest, draft, store), stored)
    try {
      const content = passphrase === undefined ? tar : encrypted(passphrase, tar)
      await clearUnfinished(dirname(file), 'archive', Date.now())
      await streamDurably(file, content, { replace: false, mode: 0o600, temporary: unfinishedName('archive') })
    } catch (error) {
      throw fromSystemError(error, file)
    }
    return manifest
  },
  close: () => Promise.resolve(),
})

const notOurs = (file: string, why: string): DamagedBackup =>
  new DamagedBackup(`${file} is not an archive as svc writes it: ${why}.`)

/** Reads entries at known offsets of an archive. */
function makeReader(file: string, tar: Bytes) {
  const bytesAt = (start: number, length: number): Promise<Buffer> => {
    if (start + length > tar.size) throw notOurs(file, 'it is cut off')
    return readAll(tar.read(start, start + length))
  }
  const assertAt = async (start: number, wanted: Uint8Array, what: string): Promise<void> => {
    if (!(await bytesAt(start, wanted.length)).equals(wanted)) throw notOurs(file, what)
  }

  return {
    bytesAt,
    assertAt,
    /** Reads the header at an offset, whose name and size are not known exactly. */
    async headAt(start: number, isExpected: (name: string) => boolean): Promise<TarHeader> {
      const block = await bytesAt(start, TAR_BLOCK)
      const text = (from: number, length: number) => block.toString('latin1', from, from + length).split('\0')[0]!
      const [name, size, mtime] = [text(0, 100), Number.parseInt(text(124, 12), 8), Number.parseInt(text(136, 12), 8)]
      const isSound = isExpected(name) && Number.isSafeInteger(size) && Number.isSafeInteger(mtime)
      if (!isSound || !block.equals(headOf({ name, size, mtime })))
        throw notOurs(file, 'an entry is not the expected one')
      return { name, size, mtime }
    },
    /** The content of an entry with a known header; header and padding are compared byte for byte. */
    async *content(start: number, entry: TarHeader): AsyncGenerator<Uint8Array> {
      const header = headOf(entry)
      await assertAt(start, header, `${entry.name} is not where it must be`)
      const from = start + header.length
      if (from + entry.size > tar.size) throw notOurs(file, 'it is cut off')
      yield* tar.read(from, from + entry.size)
      await assertAt(from + entry.size, tarPadding(entry.size), `there is data after ${entry.name}`)
    },
  }
}

interface Contents {
  manifest: Manifest
  blobs: Piece[]
  /** Offset of each object's entry. */
  places: Map<string, number>
}

async function readContents(file: string, tar: Bytes): Promise<Contents & { reader: ReturnType<typeof makeReader> }> {
  const reader = makeReader(file, tar)
  const first = await reader.headAt(0, (name) => name === HEADER_FILE)
  if (first.size > MAX_HEADER) throw notOurs(file, 'its first entry is too long')
  parseHeader((await readAll(reader.content(0, first))).toString('utf8'), file)

  let at = lengthOf(first)
  const second = await reader.headAt(at, (name) => isBackupId(MANIFEST_NAME.exec(name)?.[1] ?? ''))
  if (second.size > MAX_MANIFEST) throw notOurs(file, 'its manifest is too long')
  const id = MANIFEST_NAME.exec(second.name)![1]!
  const manifest = parseManifest((await readAll(reader.content(at, second))).toString('utf8'), id)
  const mtime = secondsOf(manifest.created_at)
  at += lengthOf(second)

  // The lists follow the manifest, and name everything after them.
  let next = at
  const blobs = await readLists(manifest, async (list) => {
    const entry = { name: objectName(list.sha256), size: list.size, mtime }
    const content = await readAll(verified(list, reader.content(next, entry)))
    next += lengthOf(entry)
    return content
  })
  const places = new Map<string, number>()
  for (const { sha256, size } of objectsOf(manifest, blobs)) {
    places.set(sha256, at)
    at += lengthOf({ name: objectName(sha256), size, mtime })
  }
  if (tar.size !== at + tarEnd().length) throw notOurs(file, tar.size < at ? 'it is cut off' : 'its length is wrong')
  await reader.assertAt(at, tarEnd(), 'its end is missing')
  return { manifest, blobs, places, reader }
}

export const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  )

/**
 * Opens an archive. Its start and length are checked at once, each entry when it is read. `passphrase` is called if it
 * is encrypted. Throws `DamagedBackup` and `WrongPassphrase`.
 */
export async function openArchive(path: string, passphrase: () => Promise<string>): Promise<BackupSource> {
  // The user may name a symbolic link.
  const file = await openBytes(await realpath(path))
  try {
    const header = await headerOf(file)
    const tar = header ? await openFile(file, header, await passphrase()) : file
    const { manifest, blobs, places, reader } = await readContents(path, tar)
    const mtime = secondsOf(manifest.created_at)
    return {
      place: path,
      encrypted: header !== undefined,
      ids: () => Promise.resolve([manifest.id]),
      manifest: (id) =>
        id === manifest.id
          ? Promise.resolve(manifest)
          : Promise.reject(new DamagedBackup(`${path} does not hold ${id}.`)),
      blobs: () => Promise.resolve(blobs),
      async *read(piece) {
        const at = places.get(piece.sha256)
        if (at === undefined) throw new DamagedBackup(`${path} does not hold the object ${piece.sha256}.`)
        const entry = { name: objectName(piece.sha256), size: piece.size, mtime }
        yield* verified(piece, reader.content(at, entry))
      },
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}
