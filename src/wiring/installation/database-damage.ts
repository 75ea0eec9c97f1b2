import { errorCode } from '../../base/errors.ts'

/** What to do about a database that SQLite cannot read. */
export const DATABASE_REMEDY =
  'restore a backup into a new data directory (svc backup restore latest --from DIR --data-dir NEW), or put an intact copy of svc.db in its place'

/** The message for an error of a damaged database file; undefined for other errors. */
export const damageOf = (error: unknown): { text: string; remedy: string } | undefined =>
  /^SQLITE_(CORRUPT|NOTADB)/.test(errorCode(error))
    ? { text: `The database is damaged: ${DATABASE_REMEDY}.`, remedy: DATABASE_REMEDY }
    : undefined
