import type { SqliteHandle } from '../src/host/sqlite-engine.ts'
import { noteOf, numbers, sha256Of } from './samples.ts'

// Inserts rows like those of the service into the database of a stopped server.

/** Creation time of all rows, epoch ms. */
export const TIME = Date.UTC(2026, 0, 1)

/** Names of folders, and of the files in each. */
const FOLDERS = 100
const SUBFOLDERS = 10

/** Adds `count` notes to an account. */
export function seedNotes(database: SqliteHandle, user: number, count: number): void {
  const insert = database.prepare(
    'insert into svc_notes (user_id, version, created_at, updated_at, title, content, category, pinned, color) values (?, 1, ?, ?, ?, ?, ?, ?, ?)',
  )
  const time = new Date(TIME).toISOString()
  database.transaction(() => {
    for (const number of numbers(count)) {
      const { title, content, category, pinned, color } = noteOf(number)
      insert.run(user, time, time, title, content, category, pinned ? 1 : 0, color)
    }
    record(database, user, 'svc_notes', 'svc_notes where user_id = ?')
  })()
}

/** Stored in the database: a server refuses to start if all contents of its blob store are missing. */
const NO_CONTENT = Buffer.alloc(0)

export interface SeedFile {
  folder: string
  name: string
  /** Undefined for a placeholder that cannot be downloaded. */
  data?: Buffer
  size: number
  sha256: string
}

/** `count` files, evenly distributed over a thousand folders of two levels. */
export const filesOf = (count: number): SeedFile[] =>
  numbers(count).map((number) => ({
    folder: `Year ${1990 + (number % FOLDERS)}/Folder ${Math.floor(number / FOLDERS) % SUBFOLDERS}`,
    name: `Report ${String(number).padStart(6, '0')} of the spring.pdf`,
    size: 1_000 + (number % 50_000),
    sha256: sha256Of(`file ${number}`),
  }))

/** Adds files and their folders to an account. */
export function seedFiles(database: SqliteHandle, user: number, files: readonly SeedFile[]): void {
  const node = database.prepare(
    'insert into nodes (user_id, parent_id, name, name_key, type, sha256, size, mtime, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const content = database.prepare(
    'insert into contents (sha256, size, data, touched_at) values (?, ?, ?, ?) on conflict do nothing',
  )
  const folders = new Map<string, number | bigint>()
  folders.set(
    '',
    database.prepare('select id from nodes where user_id = ? and parent_id is null').pluck().get(user) as number,
  )

  const add = (
    parent: number | bigint,
    name: string,
    type: string,
    sha256: string | null,
    size: number,
  ): number | bigint => node.run(user, parent, name, name, type, sha256, size, TIME / 1_000, TIME, TIME).lastInsertRowid

  function folderAt(path: string): number | bigint {
    let id = folders.get(path)
    if (id !== undefined) return id
    const slash = path.lastIndexOf('/')
    id = add(folderAt(path.slice(0, Math.max(0, slash))), path.slice(slash + 1), 'directory', null, 0)
    folders.set(path, id)
    return id
  }

  database.transaction(() => {
    for (const { folder, name, data, size, sha256 } of files) {
      content.run(sha256, size, data ?? NO_CONTENT, TIME)
      add(folderAt(folder), name, 'file', sha256, size)
    }
    record(database, user, 'svc_files', 'nodes where user_id = ? and parent_id is not null')
    database
      .prepare(
        "update counters set used_bytes = (select sum(size) from nodes where user_id = ? and type = 'file') where user_id = ?",
      )
      .run(user, user)
  })()
}

/** Adds rows of a new account to its feed. */
function record(database: SqliteHandle, user: number, table: string, rows: string): void {
  database
    .prepare(
      `insert into changes (user_id, tbl, row_id, seq, born, deleted, changed_at)
       select user_id, '${table}', id, row_number() over (order by id), row_number() over (order by id), 0, ${TIME} from ${rows}`,
    )
    .run(user)
  database
    .prepare('update counters set seq = (select max(seq) from changes where user_id = ?) where user_id = ?')
    .run(user, user)
}

/** Creates accounts with an empty file tree, two devices and a session each; every fourth has a second factor. */
export function seedUsers(database: SqliteHandle, count: number): void {
  const statement = (table: string, columns: string) =>
    database.prepare(`insert into ${table} (${columns}) values (${columns.replaceAll(/\w+/g, '?')})`)
  const user = statement(
    'users',
    'username, display_name, avatar_color, role, password_hash, quota_bytes, last_login_at, created_at, updated_at',
  )
  const counter = statement('counters', 'user_id, used_bytes')
  const root = statement('nodes', 'user_id, name, name_key, type, mtime, created_at, updated_at')
  const device = statement('device_tokens', 'user_id, device_id, device_name, token_hash, created_at, last_used_at')
  const session = statement('sessions', 'user_id, token_hash, created_at, last_used_at, ip, user_agent')
  const factor = statement('second_factors', 'user_id, secret, enabled_at')
  database.transaction(() => {
    for (const number of numbers(count)) {
      const name = `person-${String(number).padStart(6, '0')}`
      const quota = number % 3 === 0 ? 10 * 1024 ** 3 : null
      const { lastInsertRowid: id } = user.run(
        name,
        `Person ${number}`,
        '#336699',
        'user',
        '-',
        quota,
        TIME,
        TIME,
        TIME,
      )
      counter.run(id, number * 1_000)
      root.run(id, '', '', 'directory', TIME / 1_000, TIME, TIME)
      for (const kind of ['Laptop', 'Phone']) device.run(id, kind, kind, `${kind} ${number}`, TIME, TIME + number)
      session.run(id, `session ${number}`, TIME, TIME + number, '192.0.2.7', 'Browser')
      if (number % 4 === 0) factor.run(id, '-', TIME)
    }
  })()
}
