import { DamagedBackup, objectsOf, readLists, type Piece } from './backup-manifest.ts'
import { readAll } from './file-bytes.ts'
import type { ObjectPool } from './object-pool.ts'
import { chaptersIn, readBase, recordsOf, type Chapter } from './stream-files.ts'

/** The objects of the copy that a chapter begins with; none while it is not complete. Throws `DamagedBackup`. */
export async function baseObjects(
  { folder, key, pool }: { folder: string; key: Uint8Array | undefined; pool: ObjectPool },
  chapter: Chapter,
): Promise<Iterable<Piece>> {
  const base = await readBase(folder, chapter, key)
  if (!base) return []
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
  for (const chapter of await chaptersIn(folder)) {
    await noting(async () => {
      for (const piece of await baseObjects({ folder, key, pool }, chapter)) objects.set(piece.sha256, piece)
    })
    await noting(async () => {
      for await (const record of recordsOf(folder, chapter, key)) {
        await record.pages()
        records += 1
        for (const piece of record.head.blobs) objects.set(piece.sha256, piece)
      }
    })
  }
  for (const piece of objects.values())
    await noting(async () => {
      for await (const _ of pool.read(piece));
    })
  return { problems, records }
}
