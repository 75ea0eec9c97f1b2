import { DamagedBackup, objectsOf, readLists, type Piece } from './backup-manifest.ts'
import { readAll } from './file-bytes.ts'
import type { ObjectPool } from './object-pool.ts'
import type { StreamVerification } from './source.ts'
import { within } from './repository-path.ts'
import { addEnds, chaptersIn, completeBase, hasBase, recordsOf, STREAM_FOLDER, type Chapter } from './stream-files.ts'

interface Place {
  folder: string
  key: Uint8Array | undefined
  pool: ObjectPool
}

/** The objects of the copy that a chapter begins with, and contents that are missing in it. Throws `DamagedBackup`. */
export async function baseObjects(
  { folder, key, pool }: Place,
  chapter: Chapter,
): Promise<{ objects: Iterable<Piece>; missing: string[] }> {
  const base = await completeBase(folder, chapter, key)
  const objects = objectsOf(base, await readLists(base, (list) => readAll(pool.read(list))))
  return { objects, missing: base.missing }
}

/** Reads the whole stream of a repository. */
export async function verifyStream(
  folder: string,
  key: Uint8Array | undefined,
  pool: ObjectPool,
): Promise<StreamVerification> {
  const problems: string[] = []
  const objects = new Map<string, Piece>()
  const missing = new Set<string>()
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
        for (const sha256 of record.head.missing) missing.add(sha256)
        addEnds(ends, record.head)
        isNeeded ||= record.head.completes
      }
    })
    if (!isNeeded) continue
    await noting(async () => {
      const base = await baseObjects({ folder, key, pool }, chapter)
      for (const piece of base.objects) objects.set(piece.sha256, piece)
      for (const sha256 of base.missing) missing.add(sha256)
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
  const stored = missing.size > 0 ? await pool.stored() : new Map<string, number>()
  const lost = [...missing].filter((sha256) => !stored.has(pool.nameOf(sha256)))
  return { problems, records, missing: lost.length }
}
