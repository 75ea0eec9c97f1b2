import { errorCode } from '../../base/errors.ts'

/** What to do about a database that SQLite cannot read. A copy of the file is no remedy: clients would not notice that it is older. */
export const DATABASE_REMEDY =
  'restore a backup into a new data directory: svc backup restore latest --from DIR --data-dir NEW'

/** The message for an error of a damaged database file; undefined for other errors. */
export const damageOf = (error: unknown): { text: string; remedy: string } | undefined =>
  /^SQLITE_(CORRUPT|NOTADB)/.test(errorCode(error))
    ? { text: `The database is damaged: ${DATABASE_REMEDY}.`, remedy: DATABASE_REMEDY }
    : undefined
