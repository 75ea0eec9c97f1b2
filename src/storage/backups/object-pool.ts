import { createHmac, hkdfSync } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import pLimit from 'p-limit'
import { randomHex } from '../../base/random.ts'
import { errorCode, fromSystemError } from '../../base/errors.ts'
import { syncFolder } from '../../host/durable.ts'
import { isSound, openBytes, verified } from './file-bytes.ts'
import { DamagedBackup, type Piece } from './manifest.ts'
import { openSealed, seal, sealedSize, type StreamKey } from './stream-cipher.ts'

/** How objects are named and sealed in an encrypted repository. */
export interface PoolKeys {
  data: StreamKey
  manifest: StreamKey
  names: Uint8Array
}

/** The keys that follow from the one key of a repository (HKDF-SHA-256, RFC 5869). */
export const poolKeys = (key: Uint8Array): PoolKeys => ({
  data: { secret: key, purpose: 'svc backup object' },
  manifest: { secret: key, purpose: 'svc backup manifest' },
  names: new Uint8Array(hkdfSync('sha256', key, '', 'svc backup names', 32)),
})

/** Where the plain bytes of an object come from. */
export interface Origin {
  /** Writes them into a new file; false when they are gone. */
  save(file: string): Promise<boolean>
  exists(): Promise<boolean>
  read(): AsyncIterable<Uint8Array>
}

/** The objects of a repository: `objects/ab/<name>`, each complete and flushed before it gets its name. */
export interface ObjectPool {
  /** Stores an object unless it is there in full length; what is damaged counts as missing. */
  add(piece: Piece, origin: Origin): Promise<'added' | 'present' | 'missing'>
  /** Whether an object was there in full length when that was looked at, or was added since. */
  has(piece: Piece): boolean
  /** Looks at what is there; to be called before `add`, and before it is asked who else is at work. */
  load(): Promise<void>
  /** Makes the names durable of what was added, or of `all` objects: those of runs that had no time for it among them. */
  settle(all: boolean): Promise<void>
  read(piece: Piece): AsyncIterable<Uint8Array>
  nameOf(sha256: string): string
  /** Every object by the name of its file, with its length on the disk. */
  stored(): Promise<Map<string, number>>
  remove(names: readonly string[]): Promise<void>
  /** Removes what interrupted runs left, all but those of the locks that stand. Returns whether one of them added objects. */
  sweep(standing: readonly string[]): Promise<boolean>
}

const NAME = /^[0-9a-f]{64}$/
const SHELF = /^[0-9a-f]{2}$/
/** Ends the name of a mark that a run leaves while it has added objects whose names are not durable yet. */
const UNSETTLED = '-unsettled'
/** Files looked at or removed at the same time. */
const WIDTH = 32

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Flushes a complete file, of the length it must have. */
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

/** Where objects stand, under which names and in which length. */
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
  const look = async (shelf: string): Promise<void> => {
    for (const name of await namesIn(join(objects, shelf))) {
      if (!NAME.test(name) || !name.startsWith(shelf)) continue
      found.set(name, (await stat(join(objects, shelf, name))).size)
    }
  }
  const shelves = (await namesIn(objects)).filter((name) => SHELF.test(name))
  await Promise.all(shelves.map((shelf) => limit(look, shelf)))
  return found
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
    const plain = keys ? await openSealed(keys.data, file) : file
    yield* verified(piece, plain.read(0, plain.size))
  } finally {
    await file.close()
  }
}

/** Writes an object, sealed where it has to be, into a new file and flushes it; false when its bytes are gone or damaged. */
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

/** `lock` names what is still being written. */
export function openPool(folder: string, keys: PoolKeys | undefined, lock = randomHex(8)): ObjectPool {
  const layout = layoutOf(folder, keys)
  const { objects, temporary, nameOf, pathOf, lengthOf } = layout
  const shelves = new Set<string>()
  const mark = join(temporary, `${lock}${UNSETTLED}`)
  let marked: Promise<void> | undefined
  let there = new Map<string, number>()
  let files = 0
  const has = ({ sha256, size }: Piece): boolean => there.get(nameOf(sha256)) === lengthOf(size)

  async function publish(from: string, name: string): Promise<void> {
    await (marked ??= writeFile(mark, '', { mode: 0o600 }))
    const shelf = join(objects, name.slice(0, 2))
    if (!shelves.has(shelf)) await mkdir(shelf, { recursive: true, mode: 0o700 })
    shelves.add(shelf)
    await rename(from, pathOf(name))
  }

  return {
    nameOf,
    has,
    stored: () => storedIn(layout),
    read: (piece) => readFrom(layout, keys, piece),
    async add(piece, origin) {
      if (has(piece)) return 'present'
      const name = nameOf(piece.sha256)
      const into = join(temporary, `${lock}-${++files}`)
      try {
        if (!(await write(layout, keys, piece, origin, into))) return 'missing'
        await publish(into, name)
        there.set(name, lengthOf(piece.size))
        return 'added'
      } catch (error) {
        throw fromSystemError(error)
      } finally {
        await rm(into, { force: true })
      }
    },
    async load() {
      there = await storedIn(layout)
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
      const isUnsettled = left.some((name) => name.endsWith(UNSETTLED))
      // Its mark goes when ours is there.
      if (isUnsettled) await (marked ??= writeFile(mark, '', { mode: 0o600 }))
      for (const name of left) await rm(join(temporary, name), { force: true, recursive: true })
      return isUnsettled
    },
  }
}

/** Bytes at hand. */
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
