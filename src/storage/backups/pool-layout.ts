import { createHmac, hkdfSync } from 'node:crypto'
import { errorCode } from '../../base/errors.ts'
import { DamagedBackup, type Piece } from './backup-manifest.ts'
import { openBytes, verified } from './file-bytes.ts'
import { within } from './repository-path.ts'
import { openSealed, sealedSize, type StreamKey } from './stream-cipher.ts'

// How the objects of a repository are named, encrypted and read, in a folder or a bucket.

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

/** Which objects are read before reuse: all, or those due on a day, in days since 1970. */
export type Reread = 'all' | { day: number }

/** Paths, names and stored lengths of objects. */
export function layoutOf(folder: string, keys: PoolKeys | undefined) {
  const objects = within(folder, 'objects')
  return {
    objects,
    temporary: within(folder, 'tmp'),
    nameOf: (sha256: string): string => (keys ? createHmac('sha256', keys.names).update(sha256).digest('hex') : sha256),
    pathOf: (name: string): string => within(objects, name.slice(0, 2), name),
    lengthOf: (size: number): number => (keys ? sealedSize(size) : size),
  }
}

export type Layout = ReturnType<typeof layoutOf>

export async function* readFrom(
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
