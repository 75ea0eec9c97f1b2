/** The machine's disk is full: nothing was written. Never to be confused with a user's quota. */
export class DiskFull extends Error {
  override name = 'DiskFull'
}

/** Something needed right now is held by somebody else; trying again later helps. */
export class Busy extends Error {
  override name = 'Busy'
}

/** The files of the database are no longer where they were opened; the message says what to do. */
export class DatabaseMoved extends Busy {
  override name = 'DatabaseMoved'
  readonly exitCode = 8
  readonly reason = 'database_moved'
}

const FULL = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL'])

/** Errors of a full disk become `DiskFull`, everything else stays as it is. */
export const recognise = (error: unknown): unknown =>
  error instanceof Error && FULL.has(String((error as { code?: unknown }).code))
    ? new DiskFull('The disk is full.', { cause: error })
    : error

/** The code of an error of the system, such as `ENOENT`; empty for an error without one. */
export const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '')
