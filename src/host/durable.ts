import { link, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { randomHex } from '../base/random.ts'
import { errorCode } from '../base/errors.ts'

// Windows cannot open a folder for this, and some file systems cannot flush one: there is nothing more to be done then.
const NOT_POSSIBLE = new Set(
  process.platform === 'win32' ? ['EPERM', 'EISDIR', 'EACCES', 'EINVAL'] : ['EINVAL', 'ENOTSUP'],
)

const ignoreImpossible = (error: unknown): void => {
  if (!NOT_POSSIBLE.has(errorCode(error))) throw error
}

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** Whether an error says that a file system makes no hard links (FAT, some network drives), or not of this file. */
export const cannotLink = (error: unknown): boolean => NO_LINKS.has(errorCode(error))

/** Makes the names in a folder durable: files created, renamed or removed there stay so after a power cut. */
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
 * Replaces a file as a whole: whoever looks, also after a power cut, finds the old content or the new, never a mixture.
 * When it resolves, the new content is on the disk. The file gets exactly `mode`; its folder must exist.
 */
export const writeDurably = (path: string, data: string | Uint8Array, mode = 0o600): Promise<void> =>
  viaTemporary(path, { mode, replace: true }, async (file) => {
    await file.writeFile(data)
    // The mode given to `open` is cut by the umask.
    await file.chmod(mode)
  })

export interface StreamOptions {
  /** Whether a file that stands there may be replaced; otherwise the error is EEXIST and it stays as it is. */
  replace: boolean
  /** Permissions; those of a new file without it. */
  mode?: number | undefined
  /** Modification time, in seconds since the epoch. */
  mtime?: number | undefined
  /** Name of the file beside it that is written first, which nobody else has; one by chance without it. */
  temporary?: string | undefined
}

/** As `writeDurably`, from a stream; when the stream fails, nothing has changed. */
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
  // Nobody knows the temporary file: what cannot be made is the file itself.
  const file = await open(temporary, 'wx', mode).catch((error: unknown) => {
    throw Object.assign(error as Error, { path })
  })
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
    throw error
  }
  await syncFolder(dirname(path))
}

/** Renames where nothing stands yet, in one step that no other program can come between. */
async function place(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path)
  } catch (error) {
    if (!cannotLink(error)) throw error
    // A file system without hard links: an empty file holds the name until it is replaced.
    await (await open(path, 'wx')).close()
    return rename(temporary, path)
  }
  await rm(temporary)
}
