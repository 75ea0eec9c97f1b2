import { sql } from 'kysely'
import { openCopyFile } from '../../host/sqlite-engine.ts'
import type { Reader } from './database.ts'
import { makeSchema, migrations } from './migrations/migrate.ts'
import { Connection } from './sqlite-connection.ts'
import { sqliteDialect } from './sqlite.ts'

// Copies made by `Database.copyTo`. One from an untrusted source may contain anything: no part of its schema is ever
// executed, and only the schema is read until it has been compared with ours.

/** A read-only copy. */
export interface DatabaseCopy {
  readonly at: Reader
  /**
   * Problems of the copy: a schema that differs from these migrations, damaged pages, broken references. Nothing else
   * may be read from an untrusted copy before this returns none.
   */
  problems(migrationNames: readonly string[]): Promise<string[]>
  close(): void
}

interface Item {
  type: string
  name: string
  tbl_name: string
  sql: string | null
}

/** Most problems of one kind that are listed. */
const NAMED = 20

/** The migrations of this version, oldest first. */
export const migrationNames: readonly string[] = migrations.map(({ name }) => name)

/** Tables of SQLite itself; the prefix is reserved. */
const OWN = /^sqlite_(sequence|stat1|stat4|autoindex_.+)$/

const inOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

const schemaOf = async (on: Reader): Promise<Item[]> =>
  (await sql<Item>`select type, name, tbl_name, sql from sqlite_master`.execute(on.q)).rows

const nameOf = ({ type, name }: Item): string => `${type} ${name}`

/** The schema of these migrations. */
async function expectedSchema(names: readonly string[]): Promise<Item[]> {
  const made = new Connection(openCopyFile(':memory:'))
  try {
    await makeSchema(made, sqliteDialect, names)
    return await schemaOf(made)
  } finally {
    made.close()
  }
}

const SYNCED = /^svc_[a-z0-9_]+$/
const COLUMN = String.raw`"?[a-z][a-z0-9_]*"? (?:integer|real|text)(?: not null)?(?: default (?:-?[0-9.]+|null|'(?:[^']|'')*'))?`
const COMMON = String.raw`id integer primary key autoincrement, user_id integer not null references users \(id\) on delete cascade, version integer not null default 1, created_at text not null, updated_at text not null`
const SYNCED_TABLE = new RegExp(
  String.raw`^create table "(svc_[a-z0-9_]+)" \( ${COMMON}(?:, ?${COLUMN})* ?\) strict$`,
  'i',
)

/** Whether an item is a synchronised table or its index; their columns depend on the version that created them. */
function isSynced({ type, name, tbl_name, sql: text }: Item): boolean {
  const line = inOneLine(text ?? '')
  if (type === 'table') return SYNCED.test(name) && SYNCED_TABLE.exec(line)?.[1] === name
  const index = `create index "${tbl_name}_of_user" on "${tbl_name}" (user_id)`
  return type === 'index' && SYNCED.test(tbl_name) && name === `${tbl_name}_of_user` && line.toLowerCase() === index
}

async function schemaProblems(at: Reader, names: readonly string[]): Promise<string[]> {
  const expected = new Map((await expectedSchema(names)).map((item) => [nameOf(item), item]))
  const problems: string[] = []
  for (const item of await schemaOf(at)) {
    const wanted = expected.get(nameOf(item))
    expected.delete(nameOf(item))
    if (OWN.test(item.name) || isSynced(item)) continue
    if (!wanted) problems.push(`the database holds a ${nameOf(item)} that svc does not make`)
    else if (wanted.tbl_name !== item.tbl_name || inOneLine(wanted.sql ?? '') !== inOneLine(item.sql ?? ''))
      problems.push(`the ${nameOf(item)} of the database is not as svc makes it`)
  }
  const missing = [...expected.values()].filter(({ name }) => !OWN.test(name))
  return [...problems, ...missing.map((item) => `the ${nameOf(item)} is missing in the database`)].slice(0, NAMED)
}

async function rowProblems(at: Reader): Promise<string[]> {
  const { rows: damage } = await sql<{ integrity_check: string }>`pragma integrity_check(${sql.lit(NAMED)})`.execute(
    at.q,
  )
  const broken = damage.map(({ integrity_check }) => integrity_check).filter((text) => text !== 'ok')
  if (broken.length > 0) return broken.map((text) => `the database is damaged: ${inOneLine(text)}`)
  const { rows } = await sql<{ table: string; parent: string }>`pragma foreign_key_check`.execute(at.q)
  const pairs = new Set(rows.map(({ table, parent }) => `rows of ${table} point to missing rows of ${parent}`))
  return [...pairs]
}

const messageOf = (error: unknown): string => inOneLine((error as Error).message)

/** Opens a copy for reading. Throws if the file is not a database. */
export function openCopy(file: string): DatabaseCopy {
  const at = new Connection(openCopyFile(file, { readonly: true }))
  return {
    at,
    async problems(names) {
      try {
        const problems = await schemaProblems(at, names)
        return problems.length > 0 ? problems : await rowProblems(at)
      } catch (error) {
        return [`the database cannot be read: ${messageOf(error)}`]
      }
    },
    close: () => at.close(),
  }
}
