import { DamagedBackup, type Piece } from './backup-manifest.ts'
import { isSound, verified } from './file-bytes.ts'
import { objectsBelow, putObject, removeObjects, sizeOfObject } from './bucket.ts'
import { layoutOf, readFrom, type ObjectPool, type PoolKeys, type Reread } from './pool-layout.ts'
import { seal } from './stream-cipher.ts'

/** Objects that are looked for one by one; beyond that, all are listed. */
const SINGLE = 20

/**
 * The objects of a repository in a bucket. Those that are used again are read only if all are to be: the store checks what it keeps, and charges
 * for reading.
 */
export function openBucketPool(folder: string, keys: PoolKeys | undefined, reread: Reread | undefined): ObjectPool {
  const layout = layoutOf(folder, keys)
  const { objects, nameOf, pathOf, lengthOf } = layout
  let there = new Map<string, number>()
  let isLoaded = false
  let looked = 0
  const missing = new Set<string>()
  const known = new Map<string, boolean>()

  async function stored(): Promise<Map<string, number>> {
    const found = new Map<string, number>()
    for await (const { name, size } of objectsBelow(objects)) {
      const [shelf, own, more] = name.split('/')
      if (own !== undefined && more === undefined && own.startsWith(shelf!)) found.set(own, size)
    }
    return found
  }

  async function load(): Promise<void> {
    there = await stored()
    isLoaded = true
  }

  async function has(piece: Piece): Promise<boolean> {
    const name = nameOf(piece.sha256)
    if (there.get(name) !== lengthOf(piece.size)) return false
    if (reread === 'all' && !known.has(name)) known.set(name, await isSound(piece, readFrom(layout, keys, piece)))
    return known.get(name) ?? true
  }

  return {
    nameOf,
    pathOf,
    has,
    stored,
    load,
    read: (piece) => readFrom(layout, keys, piece),
    async find(pieces) {
      if (isLoaded) return
      looked += pieces.length
      if (looked > SINGLE) return load()
      for (const { sha256 } of pieces) {
        const size = await sizeOfObject(pathOf(nameOf(sha256)))
        if (size !== undefined) there.set(nameOf(sha256), size)
      }
    },
    expect(pieces) {
      for (const { sha256 } of pieces) if (!there.has(nameOf(sha256))) missing.add(nameOf(sha256))
    },
    async add(piece, origin) {
      if (await has(piece)) return 'present'
      const name = nameOf(piece.sha256)
      const isDamaged = there.has(name) || missing.has(name)
      if (!(await origin.exists())) return 'missing'
      try {
        const plain = verified(piece, origin.read())
        await putObject(pathOf(name), keys ? seal(keys.data, plain) : plain, lengthOf(piece.size))
      } catch (error) {
        if (error instanceof DamagedBackup) return 'missing'
        throw error
      }
      there.set(name, lengthOf(piece.size))
      known.set(name, true)
      return isDamaged ? 'repaired' : 'added'
    },
    settle: () => Promise.resolve(),
    remove: (names) => removeObjects(names.map(pathOf)),
    sweep: () => Promise.resolve(false),
  }
}
