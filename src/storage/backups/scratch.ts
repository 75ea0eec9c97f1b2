import { createHash } from 'node:crypto'
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { randomHex } from '../../base/random.ts'
import { fromSystemError } from '../../base/errors.ts'
import { databasePieces, DATABASE_PIECE, type Manifest } from './backup-manifest.ts'
import type { BackupSource } from './source.ts'

/** A temporary file for a copy of the database. */
export interface Scratch {
  file: string
  clear(): Promise<void>
}

const PREFIX = 'backup-'

/** A temporary copy owned by `holder`. Removes copies whose holder is not in `standing`: their process was killed. */
export async function makeScratch(folder: string, holder: string, standing: readonly string[]): Promise<Scratch> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of await readdir(folder)) {
    const owner = /^backup-([0-9a-f]+)\./.exec(name)?.[1]
    if (owner !== undefined && !standing.includes(owner)) await rm(join(folder, name), { force: true })
  }
  return scratchAt(join(folder, `${PREFIX}${holder}.db`))
}

/** A temporary copy in a folder that nothing else uses. */
export const ownScratch = (folder: string): Scratch => scratchAt(join(folder, `${PREFIX}${randomHex(8)}.db`))

const scratchAt = (file: string): Scratch => ({
  file,
  async clear() {
    for (const suffix of ['', '-journal', '-wal', '-shm']) await rm(`${file}${suffix}`, { force: true })
  },
})

/** Bytes of a file. */
export const lengthOf = async (file: string): Promise<number> => (await stat(file)).size

/** SHA-256 of each piece of a file, in order; `size` in bytes. */
export async function piecesOf(file: string): Promise<Manifest['database']> {
  const handle = await open(file, 'r')
  try {
    const { size } = await handle.stat()
    const pieces: string[] = []
    const buffer = Buffer.allocUnsafe(DATABASE_PIECE)
    for (let at = 0; at < size; at += DATABASE_PIECE) {
      const { bytesRead } = await handle.read(buffer, 0, Math.min(DATABASE_PIECE, size - at), at)
      pieces.push(createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('hex'))
    }
    return { size, pieces }
  } finally {
    await handle.close()
  }
}

/** Assembles the database of a backup in a new file, flushed when it resolves. Throws `DamagedBackup`. */
export async function assembleDatabase(
  source: Pick<BackupSource, 'read'>,
  { database }: Pick<Manifest, 'database'>,
  file: string,
  done: (bytes: number) => void = () => undefined,
): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    for (const piece of databasePieces(database))
      for await (const part of source.read(piece)) {
        await handle.writeFile(part)
        done(part.length)
      }
    await handle.sync()
  } catch (error) {
    throw fromSystemError(error, file)
  } finally {
    await handle.close()
  }
}
