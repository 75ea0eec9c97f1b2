import { constants, createReadStream } from 'node:fs'
import { copyFile, link, mkdir, opendir, rename, stat, unlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { randomHex } from '../../base/random.ts'
import { codeOf, recognise } from '../../base/trouble.ts'
import { syncFolder } from '../../host/durable.ts'
import type { Hasher } from '../../host/hasher.ts'
import { factsOf, sweep, takeIn } from './arrival.ts'
import type { BlobStore } from './blobs.ts'

const READ_AHEAD = 512 * 1024

/** Where contents stand in a store's folder, and how they get there. */
function makeShelves(folder: string) {
  const pathOf = (sha256: string) => join(folder, sha256.slice(0, 2), sha256.slice(2, 4), sha256)
  // Folders whose own names are known to be durable.
  const known = new Set<string>()

  async function shelf(path: string): Promise<string> {
    const inner = dirname(path)
    if (known.has(inner)) return inner
    await mkdir(inner, { recursive: true, mode: 0o700 })
    await syncFolder(dirname(inner))
    await syncFolder(folder)
    known.add(inner)
    return inner
  }

  return {
    pathOf,
    /** Gives a complete, flushed file its name in the store; durable when it resolves. */
    async publish(from: string, sha256: string): Promise<void> {
      const path = pathOf(sha256)
      const inner = await shelf(path)
      for (;;) {
        try {
          await link(from, path)
          break
        } catch (error) {
          if (codeOf(error) !== 'EEXIST') throw error
        }
        // There already: make it young again. If the collector takes it in this moment, link once more.
        try {
          const now = new Date()
          await utimes(path, now, now)
          break
        } catch (error) {
          if (codeOf(error) !== 'ENOENT') throw error
        }
      }
      // Also for a content that was there: whoever put it may not have come this far yet.
      await syncFolder(inner)
    },
  }
}

/**
 * A blob store in a folder: `ab/cd/<sha256>`, with `tmp` for what is still arriving. A content becomes visible by a
 * hard link from its complete, flushed temporary file, and its folder is flushed before `put` answers.
 */
export async function openDisk(folder: string, hasher: Hasher): Promise<BlobStore> {
  const temporary = join(folder, 'tmp')
  await mkdir(temporary, { recursive: true, mode: 0o700 })
  await sweep(temporary)
  const { pathOf, publish } = makeShelves(folder)

  return {
    put: (source, max) =>
      takeIn(source, max, { folder: temporary, hasher }, async ({ name, file, sha256 }) => {
        await file.sync()
        await publish(name, sha256)
      }),

    read: (sha256, range) => createReadStream(pathOf(sha256), { ...range, highWaterMark: READ_AHEAD }),

    async save(sha256, file) {
      const path = pathOf(sha256)
      try {
        await copyFile(path, file, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
        return true
      } catch (error) {
        if (codeOf(error) === 'ENOENT' && !(await factsOf(path))) return false
        throw recognise(error)
      }
    },

    has: (sha256) =>
      stat(pathOf(sha256)).then(
        () => true,
        () => false,
      ),

    size: async (sha256) => (await factsOf(pathOf(sha256)))?.size,

    async remove(sha256, before) {
      const path = pathOf(sha256)
      const aside = join(temporary, `${sha256}.${randomHex(4)}`)
      // Take it away first and look then: a put that comes in between finds the name free and links its own file.
      try {
        if ((await stat(path)).mtimeMs >= before) return false
        await rename(path, aside)
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return false
        throw error
      }
      if ((await stat(aside)).mtimeMs >= before) {
        await publish(aside, sha256)
        await unlink(aside)
        return false
      }
      await unlink(aside)
      return true
    },

    async *list() {
      for await (const outer of await opendir(folder)) {
        if (!/^[0-9a-f]{2}$/.test(outer.name)) continue
        for await (const inner of await opendir(join(folder, outer.name))) {
          for await (const { name: sha256 } of await opendir(join(folder, outer.name, inner.name))) {
            const found = await factsOf(join(folder, outer.name, inner.name, sha256))
            if (found) yield { sha256, size: found.size, touched: found.mtimeMs }
          }
        }
      }
    },

    async check() {
      await stat(temporary)
    },

    close: () => hasher.close(),
  }
}
