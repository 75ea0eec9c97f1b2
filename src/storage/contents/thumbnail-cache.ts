import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { randomHex } from '../../base/random.ts'

/** Share of the limit that stays when the oldest are removed. */
const KEPT = 0.75

/**
 * A folder of thumbnails by key. Nothing in it is needed: it is neither flushed nor backed up, an error is a miss, and
 * the oldest entries are removed when all exceed `max` bytes.
 */
export function makeThumbnailCache(folder: string, max: () => Promise<number>) {
  let used: Promise<number> | undefined
  const placeOf = (key: string): string => join(folder, key.slice(0, 2), key)

  /** All entries with their size and age; those that vanish meanwhile are left out. */
  async function entries() {
    const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
    const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    const all: { path: string; size: number; time: number }[] = []
    for (const path of files) {
      const known = await stat(path).catch(() => undefined)
      if (known) all.push({ path, size: known.size, time: known.mtimeMs })
    }
    return all
  }

  const sum = (all: { size: number }[]): number => all.reduce((total, { size }) => total + size, 0)

  async function removeOldest(limit: number): Promise<number> {
    const all = (await entries()).sort((a, b) => a.time - b.time)
    let total = sum(all)
    for (const { path, size } of all) {
      if (total <= limit) break
      await rm(path, { force: true })
      total -= size
    }
    return total
  }

  return {
    /** An entry and its age in ms. */
    async get(key: string): Promise<{ data: Buffer; age: number } | undefined> {
      try {
        const path = placeOf(key)
        return { data: await readFile(path), age: Date.now() - (await stat(path)).mtimeMs }
      } catch {
        return undefined
      }
    },

    async put(key: string, data: Uint8Array): Promise<void> {
      const limit = await max()
      if (limit >= 0 && data.length > limit) return
      try {
        const path = placeOf(key)
        const temporary = `${path}.${randomHex(4)}`
        await mkdir(dirname(path), { recursive: true })
        await writeFile(temporary, data)
        await rename(temporary, path)
      } catch {
        return
      }
      // The first sum has the new entry already.
      const before = used ?? entries().then((all) => sum(all) - data.length)
      const after = before.then((bytes) => {
        const total = bytes + data.length
        return limit >= 0 && total > limit ? removeOldest(limit * KEPT) : total
      })
      used = after
      await after.catch(() => void (used = undefined))
    },
  }
}

export type ThumbnailCache = ReturnType<typeof makeThumbnailCache>
