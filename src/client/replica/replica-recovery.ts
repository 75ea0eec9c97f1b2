import { openCopyFile, type SqliteHandle } from '../../host/sqlite-engine.ts'
import type { SqliteFile } from '../../host/sqlite-file.ts'

type Value = string | number | null
type Record_ = Record<string, Value>

/** Tables that cannot be downloaded again. */
const UNRECOVERABLE = ['queue', 'letters', 'ids'] as const

/** All readable rows of a table, read from both ends. */
function readable(from: SqliteHandle, table: string): Record_[] {
  const found = new Map<Value, Record_>()
  for (const direction of ['asc', 'desc']) {
    try {
      for (const row of from.prepare(`select rowid as key, * from ${table} order by rowid ${direction}`).iterate()) {
        const { key, ...rest } = row as Record_
        found.set(key!, rest)
      }
    } catch {
      // Damaged here; reading from the other end may get further.
    }
  }
  return [...found].sort(([a], [b]) => Number(a) - Number(b)).map(([, row]) => row)
}

/** Copies the queue of a damaged file to a new one; returns the number of changes. */
export function salvage(damaged: string, into: SqliteFile): number {
  let from: SqliteHandle
  try {
    from = openCopyFile(damaged)
  } catch {
    return 0
  }
  try {
    return into.transaction(() => {
      let kept = 0
      for (const table of UNRECOVERABLE) {
        for (const row of readable(from, table)) {
          const names = Object.keys(row)
          const marks = names.map(() => '?').join(', ')
          try {
            into.run(`insert or ignore into ${table} (${names.join(', ')}) values (${marks})`, ...Object.values(row))
            if (table !== 'ids') kept += 1
          } catch {
            // An invalid record counts as damaged.
          }
        }
      }
      const lowest = `select min(least) as least from (select min(row_id) as least from queue union all select min(local) from ids)`
      const { least } = into.get<{ least: number | null }>(lowest)!
      if ((least ?? 0) < 0) into.run(`insert or replace into facts values ('local_id', ?)`, String(least))
      return kept
    })
  } finally {
    from.close()
  }
}
