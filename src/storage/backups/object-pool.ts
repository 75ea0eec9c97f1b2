import { createReadStream, type Stats } from 'node:fs'
import { lstat, open, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import pLimit from 'p-limit'
import { randomHex } from '../../base/random.ts'
import { errorCode, fromSystemError } from '../../base/errors.ts'
import { syncFolder } from '../../host/durable-files.ts'
import { makeFolder } from '../../host/folder-creation.ts'
import { isSound, namesIn, verified } from './file-bytes.ts'
import { DamagedBackup, type Piece } from './backup-manifest.ts'
import { openBucketPool } from './bucket-pool.ts'
import {
  layoutOf,
  readFrom,
  type Layout,
  type ObjectPool,
  type Origin,
  type PoolKeys,
  type Reread,
} from './pool-layout.ts'
import { isBucket } from './repository-path.ts'
import { seal } from './stream-cipher.ts'

export { poolKeys, type ObjectPool, type Origin, type PoolKeys, type Reread } from './pool-layout.ts'

const NAME = /^[0-9a-f]{64}$/
const SHELF = /^[0-9a-f]{2}$/
/** Suffix of the marker of a run whose added names are not durable yet. */
const NOT_DURABLE = '-unsettled'
/** Errors of renaming a file onto a folder; EPERM is that of Windows. */
const NOT_A_FILE = new Set(['EISDIR', 'EPERM'])
/** Files checked or removed concurrently. */
const WIDTH = 32

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

/** Undefined for a file that is not there, for example because another process removed it. */
const factsOf = (path: string): Promise<Stats | undefined> =>
  lstat(path).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error
    return undefined
  })

async function storedIn({ objects }: Layout): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  const limit = pLimit(WIDTH)
  const readShelf = async (shelf: string): Promise<void> => {
    for (const name of await namesIn(join(objects, shelf))) {
      if (!NAME.test(name) || !name.startsWith(shelf)) continue
      const facts = await factsOf(join(objects, shelf, name))
      if (facts) found.set(name, facts.size)
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
    const facts = await factsOf(pathOf(name))
    if (facts) found.set(name, facts.size)
    else found.delete(name)
  }
  await Promise.all(pieces.map((piece) => limit(findOne, piece)))
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
  if (isBucket(folder)) return openBucketPool(folder, keys, reread)
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
