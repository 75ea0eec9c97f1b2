import type { SqliteFile } from '../../../host/sqlite-file.ts'
import { remapKey, remapEntries, type PathRemap } from '../plan/path-remap.ts'

/** A move as the state follows it. */
export interface StoredMove {
  from: string
  to: string
  /** The new path in the server's spelling; without it base does not change. */
  path?: string
  /** The local files were renamed too; `ctimeNs` is that of the renamed file itself. */
  renamed?: { ctimeNs: bigint | undefined }
}

type Row = Record<string, string | number | null> & { key: string }

/** Applies moves to stored rows of files, all at once, because they can form cycles. */
export function remapRows(db: SqliteFile, moves: readonly StoredMove[]): void {
  const agreed = moves.filter(({ path }) => path !== undefined)
  const base = rowsBelow(db, 'base', agreed) as (Row & { path: string })[]
  const { came } = remapEntries(
    base.map((row) => [row.key, row]),
    new Map(agreed.map(({ from, to, path }) => [from, { to, path: path! }])),
  )
  exchange(
    db,
    'base',
    base,
    came.map(([key, row]) => ({ ...row, key })),
  )

  const renamed = moves.filter((each) => each.renamed)
  const ways: PathRemap = new Map(renamed.map(({ from, to }) => [from, { to, path: '' }]))
  const times = new Map(renamed.map(({ from, renamed: by }) => [from, by?.ctimeNs]))
  const hashes = rowsBelow(db, 'hashes', renamed)
  exchange(
    db,
    'hashes',
    hashes,
    hashes.map((row) => {
      const ctime = times.get(row.key)
      return { ...row, key: remapKey(row.key, ways)!, ...(ctime === undefined ? {} : { ctime_ns: String(ctime) }) }
    }),
  )
}

const rowsBelow = (db: SqliteFile, table: string, moves: readonly StoredMove[]): Row[] =>
  moves.flatMap(({ from: key }) =>
    // `0` follows `/`: everything between has the key and a slash in front.
    db.all<Row>(`select * from ${table} where key = ? or (key > ? and key < ?)`, key, `${key}/`, `${key}0`),
  )

function exchange(db: SqliteFile, table: string, old: readonly Row[], fresh: readonly Row[]): void {
  for (const { key } of old) db.run(`delete from ${table} where key = ?`, key)
  for (const row of fresh) {
    const names = Object.keys(row)
    const marks = names.map(() => '?').join(', ')
    db.run(`insert or replace into ${table} (${names.join(', ')}) values (${marks})`, ...Object.values(row))
  }
}
