import { DamagedBackup, objectsOf, readLists, type Piece } from './backup-manifest.ts'
import { readAll } from './file-bytes.ts'
import type { ObjectPool } from './object-pool.ts'
import { within } from './repository-path.ts'
import { addEnds, chaptersIn, completeBase, hasBase, recordsOf, STREAM_FOLDER, type Chapter } from './stream-files.ts'

interface Place {
  folder: string
  key: Uint8Array | undefined
  pool: ObjectPool
}

/** The objects of the copy that a chapter begins with. Throws `DamagedBackup`. */
export async function baseObjects({ folder, key, pool }: Place, chapter: Chapter): Promise<Iterable<Piece>> {
  const base = await completeBase(folder, chapter, key)
  return objectsOf(base, await readLists(base, (list) => readAll(pool.read(list))))
}

/** Reads the whole stream of a repository. Returns what is damaged, in sentences, and how many moments it has. */
export async function verifyStream(
  folder: string,
  key: Uint8Array | undefined,
  pool: ObjectPool,
): Promise<{ problems: string[]; records: number }> {
  const problems: string[] = []
  const objects = new Map<string, Piece>()
  let records = 0
  const noting = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof DamagedBackup)) throw error
      problems.push(error.message)
    }
  }
  const ends: Record<string, string> = {}
  const chapters = await chaptersIn(folder)
  for (const chapter of [...chapters].reverse()) {
    let isNeeded = await hasBase(folder, chapter)
    await noting(async () => {
      for await (const record of recordsOf(folder, chapter, key, ends[chapter.name])) {
        await record.pages()
        records += 1
        for (const piece of record.head.blobs) objects.set(piece.sha256, piece)
        addEnds(ends, record.head)
        isNeeded ||= record.head.completes
      }
    })
    if (!isNeeded) continue
    await noting(async () => {
      for (const piece of await baseObjects({ folder, key, pool }, chapter)) objects.set(piece.sha256, piece)
    })
  }
  const [oldest] = chapters
  for (const name of Object.keys(ends))
    if (oldest && name > oldest.name && !chapters.some((chapter) => chapter.name === name))
      problems.push(`The stream is damaged: ${within(folder, STREAM_FOLDER, name)} is missing.`)
  problems.reverse()
  for (const piece of objects.values())
    await noting(async () => {
      for await (const _ of pool.read(piece));
    })
  return { problems, records }
}
