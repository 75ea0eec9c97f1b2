import { iso } from '../../base/clock.ts'
import type { Contents } from '../../storage/contents/contents.ts'
import type { Database } from '../../storage/engine/database.ts'
import { filesAfter } from '../../storage/files/nodes.ts'
import { yieldToOthers } from '../turn.ts'
import { contentBytes } from './content-bytes.ts'
import { EXIF_WITHIN, exifDate } from './exif-date.ts'
import { mimeOf } from './mime.ts'
import { folderPaths, tagOf } from './queries.ts'
import type { Tree } from './tree.ts'

const PAGE = 5_000
/** Contents that are read at a time for their dates. */
const CONCURRENCY = 4
/** Dates that are remembered. */
const MAX_DATES = 500_000
/** Time that a list waits for dates, ms; the next list has more. */
const PATIENCE_MS = 200

interface Photo {
  path: string
  tag: string
  size: number
  mime: string
  modified: string
  taken: string
}

interface Parts {
  database: Database
  contents: Contents
  tree: Tree
}

/** The images of an account by date. */
export function makePhotos({ database, contents, tree }: Parts) {
  /** EXIF dates by content; empty if there is none. Every server reads its own: it is fast, and no table has to be kept. */
  const dates = new Map<string, string>()
  const reading = new Map<number, Promise<void>>()

  async function read(sha256: string, size: number): Promise<void> {
    const content = await contents.read(sha256, { start: 0, end: Math.min(size, EXIF_WITHIN) - 1 })
    dates.set(sha256, exifDate(await contentBytes(content)) ?? '')
    const [oldest] = dates.keys()
    if (dates.size > MAX_DATES) dates.delete(oldest!)
  }

  async function readAll(missing: { sha256: string; size: number }[]): Promise<void> {
    const next = async (): Promise<void> => {
      for (let one = missing.pop(); one; one = missing.pop()) {
        // An unreadable content has no date until the server starts again.
        const { sha256, size } = one
        await read(sha256, size).catch(() => dates.set(sha256, ''))
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, next))
  }

  const filesOf = (user: number) =>
    database.snapshot(async (at) => {
      const paths = await folderPaths(at, user, await tree.root(at, user))
      const found: (Omit<Photo, 'taken'> & { sha256: string })[] = []
      for (let after = 0; ;) {
        const rows = await filesAfter(at, user, after, PAGE)
        for (const { parent_id, name, size, sha256, mtime } of rows) {
          const [folder, mime] = [paths.get(parent_id), mimeOf(name)]
          if (folder === undefined || !mime.startsWith('image/')) continue
          found.push({
            path: `${folder}/${name}`,
            tag: tagOf(sha256),
            size,
            mime,
            modified: iso(mtime * 1_000),
            sha256,
          })
        }
        if (rows.length < PAGE) return found
        after = rows.at(-1)!.id
        // The snapshot stays consistent while other work runs.
        await yieldToOthers()
      }
    })

  return {
    /** Own images, the newest first. `complete` is false while dates are still being read. */
    async list(user: number): Promise<{ photos: Photo[]; complete: boolean }> {
      const files = await filesOf(user)
      const missing = files.filter(({ sha256, mime, size }) => mime === 'image/jpeg' && size > 0 && !dates.has(sha256))
      if (missing.length > 0) {
        const job = reading.get(user) ?? readAll(missing.slice()).finally(() => reading.delete(user))
        reading.set(user, job)
        await Promise.race([job, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref())])
      }
      const photos = files.map(({ sha256, ...file }) => ({ ...file, taken: dates.get(sha256) || file.modified }))
      photos.sort((a, b) => (a.taken < b.taken ? 1 : a.taken > b.taken ? -1 : a.path < b.path ? -1 : 1))
      return { photos, complete: missing.every(({ sha256 }) => dates.has(sha256)) }
    },
  }
}
