import { link, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { randomHex } from '../base/random.ts'
import { errorCode } from '../base/errors.ts'

// Windows cannot open a folder, and some file systems cannot flush one. There is no alternative.
const NOT_POSSIBLE = new Set(
  process.platform === 'win32' ? ['EPERM', 'EISDIR', 'EACCES', 'EINVAL'] : ['EINVAL', 'ENOTSUP'],
)

const ignoreImpossible = (error: unknown): void => {
  if (!NOT_POSSIBLE.has(errorCode(error))) throw error
}

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** Whether an error means that the file system has no hard links (FAT, some network drives), or none for this file. */
export const cannotLink = (error: unknown): boolean => NO_LINKS.has(errorCode(error))

/** Flushes a folder, so that created, renamed or removed names survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(ignoreImpossible)
  if (!folder) return
  try {
    await folder.sync().catch(ignoreImpossible)
  } finally {
    await folder.close()
  }
}

/**
 * Replaces a file atomically: readers, also after a power cut, see the old content or the new. When it resolves, the
 * new content is on the disk. The file gets exactly `mode`; its folder must exist.
 */
export const writeDurably = (path: string, data: string | Uint8Array, mode = 0o600): Promise<void> =>
  viaTemporary(path, { mode, replace: true }, async (file) => {
    await file.writeFile(data)
    // The umask restricts the mode passed to `open`.
    await file.chmod(mode)
  })

export interface StreamOptions {
  /** Whether to replace an existing file; otherwise throws EEXIST. */
  replace: boolean
  /** Permissions; by default those of a new file. */
  mode?: number | undefined
  /** Modification time, in seconds since the epoch. */
  mtime?: number | undefined
  /** Name of the temporary file beside it, unique to the caller; random by default. */
  temporary?: string | undefined
}

/** As `writeDurably`, from a stream. If the stream fails, nothing changes. */
export const streamDurably = (
  path: string,
  content: AsyncIterable<Uint8Array>,
  { replace, mode, mtime, temporary }: StreamOptions,
): Promise<void> =>
  viaTemporary(path, { mode: mode ?? 0o666, replace, name: temporary }, async (file) => {
    for await (const chunk of content) await file.writeFile(chunk)
    if (mode !== undefined) await file.chmod(mode)
    if (mtime !== undefined) await file.utimes(mtime, mtime)
  })

async function viaTemporary(
  path: string,
  { mode, replace, name }: { mode: number; replace: boolean; name?: string | undefined },
  fill: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const temporary = join(dirname(path), name ?? `.${basename(path).slice(0, 100)}.${randomHex(6)}.tmp`)
  // Callers do not know the temporary file, and errors of writing name none.
  const named = (error: unknown): unknown => {
    const { path: told = temporary, syscall } = error as NodeJS.ErrnoException
    return told === temporary && syscall !== undefined && syscall !== 'read'
      ? Object.assign(error as Error, { path })
      : error
  }
  const file = await open(temporary, 'wx', mode).catch((error: unknown) => Promise.reject(named(error) as Error))
  try {
    try {
      await fill(file)
      await file.sync()
    } finally {
      await file.close()
    }
    await (replace ? rename(temporary, path) : place(temporary, path))
  } catch (error) {
    await rm(temporary, { force: true })
    throw named(error)
  }
  await syncFolder(dirname(path))
}

/** Renames atomically if nothing has the name yet. */
async function place(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path)
  } catch (error) {
    if (!cannotLink(error)) throw error
    // A file system without hard links: an empty file reserves the name.
    await (await open(path, 'wx')).close()
    return rename(temporary, path)
  }
  await rm(temporary)
}
