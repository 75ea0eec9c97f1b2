import { createHmac, hkdfSync } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import pLimit from 'p-limit'
import { randomHex } from '../../base/random.ts'
import { errorCode, fromSystemError } from '../../base/errors.ts'
import { syncFolder } from '../../host/durable-files.ts'
import { makeFolder } from '../../host/folder-creation.ts'
import { isSound, openBytes, verified } from './file-bytes.ts'
import { DamagedBackup, type Piece } from './backup-manifest.ts'
import { openSealed, seal, sealedSize, type StreamKey } from './stream-cipher.ts'

/** How objects are named and encrypted in an encrypted repository. */
export interface PoolKeys {
  data: StreamKey
  manifest: StreamKey
  names: Uint8Array
}

/** Derives the keys from the repository's key (HKDF-SHA-256, RFC 5869). */
export const poolKeys = (key: Uint8Array): PoolKeys => ({
  data: { secret: key, purpose: 'svc backup object' },
  manifest: { secret: key, purpose: 'svc backup manifest' },
  names: new Uint8Array(hkdfSync('sha256', key, '', 'svc backup names', 32)),
})

/** The source of an object's plain bytes. */
export interface Origin {
  /** Writes them to a new file; false if they are missing. */
  save(file: string): Promise<boolean>
  exists(): Promise<boolean>
  read(): AsyncIterable<Uint8Array>
}

/** The objects of a repository, `objects/ab/<name>`; each is complete and flushed before it gets its name. */
export interface ObjectPool {
  /** Stores an object unless it exists in full length and, when due for reading, intact. Damaged ones are replaced. */
  add(piece: Piece, origin: Origin): Promise<'added' | 'present' | 'repaired' | 'missing'>
  /** Whether an object existed in full length at `load`, or was added since; read if it is due. */
  has(piece: Piece): Promise<boolean>
  /** Notes the objects of an earlier backup: one that is not there counts as damaged. */
  expect(pieces: readonly Piece[]): void
  /** Lists the existing objects. Must be called before `add`, and before other holders are checked. */
  load(): Promise<void>
  /** Looks for these objects only; instead of `load`, where few are added. */
  find(pieces: readonly Piece[]): Promise<void>
  /** Makes the names of added objects durable, or of `all` objects, including those of interrupted runs. */
  settle(all: boolean): Promise<void>
  read(piece: Piece): AsyncIterable<Uint8Array>
  nameOf(sha256: string): string
  pathOf(name: string): string
  /** Every object by file name, with its length on disk. */
  stored(): Promise<Map<string, number>>
  remove(names: readonly string[]): Promise<void>
  /** Removes leftovers of interrupted runs. Returns whether one of them added objects. */
  sweep(standing: readonly string[]): Promise<boolean>
}

const NAME = /^[0-9a-f]{64}$/
const SHELF = /^[0-9a-f]{2}$/
/** Suffix of the marker of a run whose added names are not durable yet. */
const NOT_DURABLE = '-unsettled'
/** Errors of renaming a file onto a folder; EPERM is that of Windows. */
const NOT_A_FILE = new Set(['EISDIR', 'EPERM'])
/** Files checked or removed concurrently. */
const WIDTH = 32

/** The names in a folder; empty if it does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return []
    throw error
  }
}

/** Flushes a complete file of the expected length. */
async function flush(path: string, size: number): Promise<boolean> {
  const file = await open(path, 'r+')
  try {
    if ((await file.stat()).size !== size) return false
    await file.sync()
    return true
  } finally {
    await file.close()
  }
}

/** Paths, names and stored lengths of objects. */
function layoutOf(folder: string, keys: PoolKeys | undefined) {
  const objects = join(folder, 'objects')
  return {
    objects,
    temporary: join(folder, 'tmp'),
    nameOf: (sha256: string): string => (keys ? createHmac('sha256', keys.names).update(sha256).digest('hex') : sha256),
    pathOf: (name: string): string => join(objects, name.slice(0, 2), name),
    lengthOf: (size: number): number => (keys ? sealedSize(size) : size),
  }
}

type Layout = ReturnType<typeof layoutOf>

async function storedIn({ objects }: Layout): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  const limit = pLimit(WIDTH)
  const readShelf = async (shelf: string): Promise<void> => {
    for (const name of await namesIn(join(objects, shelf))) {
      if (!NAME.test(name) || !name.startsWith(shelf)) continue
      found.set(name, (await lstat(join(objects, shelf, name))).size)
    }
  }
  const shelves = (await namesIn(objects)).filter((name) => SHELF.test(name))
  await Promise.all(shelves.map((shelf) => limit(readShelf, shelf)))
  return found
}

/** Notes the stored lengths of these objects in `found`, and no others. */
async function findStored(
  { nameOf, pathOf }: Layout,
  pieces: readonly Piece[],
  found: Map<string, number>,
): Promise<void> {
  const limit = pLimit(WIDTH)
  const findOne = async ({ sha256 }: Piece): Promise<void> => {
    const name = nameOf(sha256)
    const facts = await lstat(pathOf(name)).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error
      return undefined
    })
    if (facts) found.set(name, facts.size)
    else found.delete(name)
  }
  await Promise.all(pieces.map((piece) => limit(findOne, piece)))
}

async function* readFrom(
  { nameOf, pathOf, lengthOf }: Layout,
  keys: PoolKeys | undefined,
  piece: Piece,
): AsyncGenerator<Uint8Array> {
  const file = await openBytes(pathOf(nameOf(piece.sha256))).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') throw new DamagedBackup(`The object ${piece.sha256} is missing.`)
    throw error
  })
  try {
    if (file.size !== lengthOf(piece.size)) throw new DamagedBackup(`The object ${piece.sha256} has the wrong length.`)
    const plain = keys ? await openSealed(keys.data, file, `The object ${piece.sha256}`) : file
    yield* verified(piece, plain.read(0, plain.size))
  } finally {
    await file.close()
  }
}

/** Writes, encrypts if required, and flushes; false if the bytes are missing or damaged. */
async function write(
  { lengthOf }: Layout,
  keys: PoolKeys | undefined,
  piece: Piece,
  origin: Origin,
  into: string,
): Promise<boolean> {
  if (!keys)
    return (await origin.save(into)) && (await isSound(piece, createReadStream(into))) && flush(into, piece.size)
  if (!(await origin.exists())) return false
  const file = await open(into, 'wx', 0o600)
  try {
    for await (const part of seal(keys.data, verified(piece, origin.read()))) await file.writeFile(part)
  } catch (error) {
    if (error instanceof DamagedBackup) return false
    throw error
  } finally {
    await file.close()
  }
  return flush(into, lengthOf(piece.size))
}

/** Days within which every reused object is read once. */
const TURN_DAYS = 30

/** Which objects are read before reuse: all, or those due on a day, in days since 1970. */
export type Reread = 'all' | { day: number }

const isRead = (reread: Reread | undefined, name: string): boolean =>
  reread === 'all' ||
  (reread !== undefined && Number.parseInt(name.slice(0, 8), 16) % TURN_DAYS === reread.day % TURN_DAYS)

/** Renames a file. A folder that has the new name is put aside. */
const moveTo = (from: string, to: string): Promise<void> =>
  rename(from, to).catch(async (error: unknown) => {
    if (!NOT_A_FILE.has(errorCode(error))) throw error
    await rename(to, `${to}.${randomHex(4)}.aside`)
    await rename(from, to)
  })

/** `lock` names the files being written. */
export function openPool(
  folder: string,
  keys: PoolKeys | undefined,
  { lock = randomHex(8), reread }: { lock?: string; reread?: Reread } = {},
): ObjectPool {
  const layout = layoutOf(folder, keys)
  const { objects, temporary, nameOf, pathOf, lengthOf } = layout
  const shelves = new Set<string>()
  const mark = join(temporary, `${lock}${NOT_DURABLE}`)
  let marked: Promise<void> | undefined
  let there = new Map<string, number>()
  let files = 0
  /** Names of objects of earlier backups that are not there. */
  const missing = new Set<string>()
  /** Objects that this run read or wrote, by name. */
  const known = new Map<string, 'sound' | 'damaged'>()
  async function has(piece: Piece): Promise<boolean> {
    const name = nameOf(piece.sha256)
    if (there.get(name) !== lengthOf(piece.size)) return false
    if (isRead(reread, name) && !known.has(name))
      known.set(name, (await isSound(piece, readFrom(layout, keys, piece))) ? 'sound' : 'damaged')
    return known.get(name) !== 'damaged'
  }

  async function publish(from: string, name: string): Promise<void> {
    await (marked ??= writeFile(mark, '', { mode: 0o600 }))
    const shelf = join(objects, name.slice(0, 2))
    if (!shelves.has(shelf)) await makeFolder(shelf, 0o700)
    shelves.add(shelf)
    await moveTo(from, pathOf(name))
  }

  return {
    nameOf,
    pathOf,
    has,
    stored: () => storedIn(layout),
    read: (piece) => readFrom(layout, keys, piece),
    async add(piece, origin) {
      if (await has(piece)) return 'present'
      const name = nameOf(piece.sha256)
      const isDamaged = there.has(name) || missing.has(name)
      const into = join(temporary, `${lock}-${++files}`)
      try {
        if (!(await write(layout, keys, piece, origin, into))) return 'missing'
        await publish(into, name)
        there.set(name, lengthOf(piece.size))
        known.set(name, 'sound')
        return isDamaged ? 'repaired' : 'added'
      } catch (error) {
        throw fromSystemError(error, folder)
      } finally {
        await rm(into, { force: true })
      }
    },
    async load() {
      there = await storedIn(layout)
    },
    find: (pieces) => findStored(layout, pieces, there),
    expect(pieces) {
      for (const { sha256 } of pieces) if (!there.has(nameOf(sha256))) missing.add(nameOf(sha256))
    },
    async settle(all) {
      const limit = pLimit(WIDTH)
      const unsettled = all ? (await namesIn(objects)).map((name) => join(objects, name)) : [...shelves]
      await Promise.all([...unsettled, objects].map((folderPath) => limit(syncFolder, folderPath)))
      await rm(mark, { force: true })
    },
    async remove(names) {
      const limit = pLimit(WIDTH)
      await Promise.all(names.map((name) => limit(() => rm(pathOf(name), { force: true }))))
    },
    async sweep(standing) {
      const left = (await namesIn(temporary)).filter(
        (name) => !standing.some((lockId) => name.startsWith(`${lockId}-`)),
      )
      const isUnsettled = left.some((name) => name.endsWith(NOT_DURABLE))
      // Its marker can go once ours exists.
      if (isUnsettled) await (marked ??= writeFile(mark, '', { mode: 0o600 }))
      for (const name of left) await rm(join(temporary, name), { force: true, recursive: true })
      return isUnsettled
    },
  }
}

export const bytesAtHand = (data: Uint8Array): Origin => ({
  async save(path) {
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(data)
      return true
    } finally {
      await file.close()
    }
  },
  exists: () => Promise.resolve(true),
  read: () => Readable.from([data]),
})
