/** The machine's disk is full: nothing was written. Not a user's quota. */
export class DiskFull extends Error {
  override name = 'DiskFull'
}

/** A resource is in use by another process, or does not answer; trying again later helps. */
export class Busy extends Error {
  override name = 'Busy'
  readonly exitCode: number = 7
}

/** The database is open in another process. */
export class InUse extends Busy {
  override name = 'InUse'
  constructor(cause?: unknown) {
    super('Another process has the database open.', { cause })
  }
}

/** The database is no longer where it was opened, or its rows were moved elsewhere; the message says what to do. */
export class DatabaseMoved extends Busy {
  override name = 'DatabaseMoved'
  override readonly exitCode = 8
  readonly reason = 'database_moved'
}

/** The disk did not confirm a flush: it is unknown whether the last write is stored, so nothing more may be written. */
export class FlushFailed extends Error {
  override name = 'FlushFailed'
  readonly reason = 'flush_failed'
  constructor(file: string, options: ErrorOptions) {
    super(
      `The disk of ${file} did not store what was written, so the server stops. Everything it acknowledged before is safe. ` +
        'Check the disk and its file system (dmesg), then start the server again, or restore a backup to another disk.',
      options,
    )
  }
}

/** Something needed is missing until an administrator acts; the message says how. */
export class Unavailable extends Error {
  override name = 'Unavailable'
}

// SQLite cannot grow its shared memory (svc.db-shm) when it opens a database on a full disk.
const FULL = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'])

/** Turns system errors of a full disk into `DiskFull`, names `place` in those of writing it, and returns others unchanged. */
export function fromSystemError(thrown: unknown, place?: string): unknown {
  // The caller that knows the place may get an error that was converted without it.
  const isUnnamed = thrown instanceof DiskFull && place !== undefined && FULL.has(errorCode(thrown.cause))
  const error = isUnnamed ? thrown.cause : thrown
  const code = errorCode(error)
  if (!(error instanceof Error)) return error
  if (FULL.has(code)) {
    const disk = place === undefined ? 'The disk' : `The disk of ${place}`
    return new DiskFull(`${disk} is full: free some space, or use a larger one.`, { cause: error })
  }
  if (place === undefined || (code !== 'EFBIG' && !code.startsWith('SQLITE_IOERR'))) return error
  const text = `${place} cannot be written: ${error.message}. Look for a limit on the size of files (ulimit -f), and check the disk.`
  return Object.assign(new Error(text, { cause: error }), { code })
}

/** The code of a system error, such as `ENOENT`; empty for other errors. */
export const errorCode = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '')

const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  EFTYPE: 'it is not a regular file',
  EEXIST: 'it exists already',
  EROFS: 'the disk is read-only',
  ELOOP: 'it leads through too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open; raise the limit (ulimit -n 1024)',
  ENFILE: 'too many files are open on this machine; end other programs, or raise the limit (sysctl fs.file-max)',
  EFBIG: 'it would become larger than a file may be; raise the limit (ulimit -f unlimited), or use another file system',
  EIO: 'the disk cannot be read or written',
}

/** A system error about a file as text for users; undefined for other errors. */
export function fileProblem(error: unknown): string | undefined {
  const { path } = (error ?? {}) as NodeJS.ErrnoException
  if (FULL.has(errorCode(error))) return (fromSystemError(error, path) as Error).message
  const reason = REASONS[errorCode(error)]
  return path !== undefined && reason !== undefined ? `${path} cannot be used: ${reason}.` : undefined
}

/** The same for any error: its message where no file is to blame. */
export const problemText = (error: unknown): string => fileProblem(error) ?? (error as Error).message
