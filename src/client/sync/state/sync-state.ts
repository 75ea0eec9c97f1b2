import { existsSync, renameSync, rmSync } from 'node:fs'
import { openSqliteFile, type SqliteFile } from '../../../host/sqlite-file.ts'
import { JOURNAL_SCHEMA, makeJournal, type JournalChange, type Journal } from './journal.ts'
import { makeRemoteMemory, REMOTE_SCHEMA, toNode, valuesOf, type RemoteMemory } from './remote-memory.ts'
import { remapRows, type StoredMove } from './row-remap.ts'
import { keyOf, type BaseNode, type BaseTree, type Identity } from '../plan/sync-tree.ts'

/** A hash with the file's attributes at the time: while they are equal, the file is not read again. */
export interface Hashed {
  id: Identity
  sha256: string
  blank: boolean
  /** Milliseconds since the epoch. */
  at: number
}

/** A local effect of several steps in progress; the next run completes it. */
export type Intent =
  /** For a file, also its path in the trash and its attributes. */
  | { kind: 'remove'; key: string; path: string; file?: { trash: string; size: number; mtimeNs: bigint } }
  /** A rename through a staging name `at` (a local path, or one on the server); with `placing` the whole cycle is staged. */
  | {
      kind: 'park'
      key: string
      side: 'here' | 'there'
      from: string
      to: string
      at: string
      placing: boolean
    }
  | { kind: 'replace'; key: string; path: string; trash: string; size: number; mtimeNs: bigint }

/** A temporary file with the beginning of a content, with which an interrupted transfer resumes. */
export interface Part {
  /** In `.svc/tmp`. */
  name: string
  sha256: string
  /** When it was begun, in milliseconds since the epoch. */
  at: number
}

/** A conflict copy that is not resolved yet. */
export interface Copied {
  copy: string
  /** The path whose name the server's version keeps. */
  path: string
  /** Milliseconds since the epoch. */
  at: number
}

export type Change =
  | { put: string; node: BaseNode }
  | { drop: string }
  | { dropBelow: string }
  | { hash: string; hashed: Hashed }
  | { forgetHash: string }
  | { remap: readonly StoredMove[] }
  | { begin: Intent }
  | { end: string }
  | { keep: string; part: Part }
  /** The partial file was completed or given up. */
  | { whole: string }
  | JournalChange
  | { conflict: Copied }
  | { settled: string }

/** Facts that identify the owner of a state; with another value it belongs to something else. */
export interface OwnerFacts {
  root_id: string
  server_id: string
  user_id: number
}

/** State kept between runs. Losing it costs time, never data: both sides are then compared again. */
export interface State extends RemoteMemory, Journal {
  base(): BaseTree
  /** All entries, lazily; no other query may run before the last one is read. */
  hashes(): Iterable<{ key: string; hashed: Hashed }>
  intents(): Intent[]
  parts(): Map<string, Part>
  conflicts(): Copied[]
  /** All changes, durably, or none. */
  commit(changes: readonly Change[]): void
  /** Drops base, so that nothing may be deleted. */
  forgetAll(): void
  get<T>(name: string): T | undefined
  set(name: string, value: unknown): void
  close(): void
}

const FORMAT = 1

const SCHEMA = `
  create table if not exists facts (name text primary key, value text not null) strict, without rowid;
  create table if not exists base (
    key text primary key, path text not null, kind text not null check (kind in ('file', 'dir')),
    sha256 text, size integer, mtime integer,
    check ((kind = 'file') = (sha256 is not null and size is not null and mtime is not null))
  ) strict, without rowid;
  create table if not exists hashes (
    key text primary key, size integer not null, mtime_ns text not null, ctime_ns text not null, ino text not null,
    sha256 text not null, blank integer not null, at integer not null
  ) strict, without rowid;
  create table if not exists intents (key text primary key, intent text not null) strict, without rowid;
  create table if not exists parts (
    key text primary key, name text not null, sha256 text not null, at integer not null
  ) strict, without rowid;
  create table if not exists conflicts (
    copy text primary key, path text not null, at integer not null
  ) strict, without rowid;
`

/** Opens the state of one root. A damaged file, or one of another root, server or account, is moved aside: `fresh` says so. */
export function openState(
  file: string,
  belonging: OwnerFacts,
): { state: State; fresh: 'new' | 'damaged' | 'foreign' | undefined } {
  const isNew = !existsSync(file)
  try {
    const opened = openOwn(file, belonging)
    if (opened) return { state: opened, fresh: isNew ? 'new' : undefined }
  } catch (error) {
    if (!isDamage(error)) throw error
    moveAside(file, 'damaged')
    return { state: openOwn(file, belonging)!, fresh: 'damaged' }
  }
  moveAside(file, 'foreign')
  return { state: openOwn(file, belonging)!, fresh: 'foreign' }
}

const isDamage = (error: unknown): boolean =>
  ['SQLITE_CORRUPT', 'SQLITE_NOTADB'].some((code) =>
    String((error as { code?: unknown } | null)?.code).startsWith(code),
  )

function moveAside(file: string, why: string): void {
  // Kept for diagnosis; an earlier one is removed.
  renameSync(file, `${file}.${why}`)
  for (const tail of ['-wal', '-shm']) rmSync(`${file}${tail}`, { force: true })
}

function openOwn(file: string, belonging: OwnerFacts): State | undefined {
  const db = openSqliteFile(file)
  try {
    // Everything is read anyway: damage is better found now than during a run.
    const { quick_check: check } = db.get<{ quick_check: string }>('pragma quick_check(1)')!
    if (check !== 'ok') throw Object.assign(new Error(check), { code: 'SQLITE_CORRUPT' })
    // In one commit: each statement on its own would be flushed.
    db.transaction(() => db.script(SCHEMA + REMOTE_SCHEMA + JOURNAL_SCHEMA))
    const state = makeState(db)
    const known = state.get<OwnerFacts & { format: number }>('belonging')
    const own = { ...belonging, format: FORMAT }
    if (known === undefined) state.set('belonging', own)
    else if (JSON.stringify(known) !== JSON.stringify(own)) {
      db.close()
      return undefined
    }
    return state
  } catch (error) {
    db.close()
    throw error
  }
}

interface FileRow {
  sha256: string | null
  size: number
  mtime: number
}
type BaseRow = FileRow & { key: string; path: string | null }
interface HashRow {
  key: string
  size: number
  mtime_ns: string
  ctime_ns: string
  ino: string
  sha256: string
  blank: number
  at: number
}

const toText = (intent: Intent): string =>
  JSON.stringify(intent, (_, value: unknown) => (typeof value === 'bigint' ? { ns: String(value) } : value))

const toIntent = (text: string): Intent =>
  JSON.parse(text, (_, value: unknown) =>
    typeof value === 'object' && value !== null && 'ns' in value ? BigInt(String(value.ns)) : value,
  ) as Intent

function makeState(db: SqliteFile): State {
  const set = (name: string, value: unknown): void =>
    db.run(
      'insert into facts values (?, ?) on conflict do update set value = excluded.value',
      name,
      JSON.stringify(value),
    )
  const get = <T>(name: string): T | undefined => {
    const row = db.get<{ value: string }>('select value from facts where name = ?', name)
    return row && (JSON.parse(row.value) as T)
  }
  const journal = makeJournal(db, { get, set })
  return {
    ...makeRemoteMemory(db, { get, set }),
    ...journal.memory,
    base() {
      const base: BaseTree = new Map()
      // One string for key and path, which are nearly always equal.
      const rows = db.each<BaseRow>('select key, nullif(path, key) as path, sha256, size, mtime from base')
      const fold = get<boolean>('fold') ?? false
      for (const row of rows) {
        const path = row.path ?? row.key
        // An earlier version derived keys differently: an entry without a matching key is no agreement.
        if (keyOf(path, fold) === row.key) base.set(row.key, toNode(path, row))
      }
      return base
    },
    *hashes() {
      for (const row of db.each<HashRow>('select * from hashes')) yield { key: row.key, hashed: hashedOf(row) }
    },
    intents: () => db.all<{ intent: string }>('select intent from intents').map(({ intent }) => toIntent(intent)),
    parts: () => new Map(db.all<Part & { key: string }>('select * from parts').map(({ key, ...part }) => [key, part])),
    conflicts: () => db.all<Copied>('select copy, path, at from conflicts order by at, copy'),
    commit(changes) {
      if (changes.length > 0)
        db.transaction(() => {
          for (const change of changes) {
            if ('entry' in change || 'postpone' in change || 'resume' in change) journal.apply(change)
            else apply(db, change)
          }
        })
    },
    forgetAll() {
      db.transaction(() => {
        for (const table of ['base', 'remote', 'nodes', 'intents', 'deeds']) db.run(`delete from ${table}`)
        db.run(`delete from facts where name in ('manifest', 'feed', 'record', 'undoing')`)
      })
    },
    get,
    set,
    close: () => db.close(),
  }
}

const hashedOf = (row: HashRow): Hashed => ({
  id: { size: row.size, mtimeNs: BigInt(row.mtime_ns), ctimeNs: BigInt(row.ctime_ns), ino: BigInt(row.ino) },
  sha256: row.sha256,
  blank: row.blank === 1,
  at: row.at,
})

function apply(db: SqliteFile, change: Exclude<Change, JournalChange>): void {
  if ('put' in change) {
    const { kind, path } = change.node
    const sql = `insert into base values (?, ?, ?, ?, ?, ?) on conflict do update set path = excluded.path, kind = excluded.kind,
      sha256 = excluded.sha256, size = excluded.size, mtime = excluded.mtime`
    db.run(sql, change.put, path, kind, ...valuesOf(change.node))
  } else if ('drop' in change) {
    db.run('delete from base where key = ?', change.drop)
    db.run('delete from hashes where key = ?', change.drop)
  } else if ('dropBelow' in change) {
    const { dropBelow: key } = change
    // `0` follows `/`: everything between has the key and a slash in front.
    for (const table of ['base', 'hashes']) {
      db.run(`delete from ${table} where key = ? or (key > ? and key < ?)`, key, `${key}/`, `${key}0`)
    }
  } else if ('hash' in change) {
    const { id, sha256, blank, at } = change.hashed
    const sql = `insert into hashes values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do update set size = excluded.size,
      mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, ino = excluded.ino, sha256 = excluded.sha256,
      blank = excluded.blank, at = excluded.at`
    const ns = [id.mtimeNs, id.ctimeNs, id.ino].map(String) as [string, string, string]
    db.run(sql, change.hash, id.size, ...ns, sha256, blank ? 1 : 0, at)
  } else if ('forgetHash' in change) db.run('delete from hashes where key = ?', change.forgetHash)
  else if ('remap' in change) remapRows(db, change.remap)
  else if ('begin' in change) {
    db.run('insert or replace into intents values (?, ?)', change.begin.key, toText(change.begin))
  } else if ('keep' in change) {
    const { name, sha256, at } = change.part
    db.run('insert or replace into parts values (?, ?, ?, ?)', change.keep, name, sha256, at)
  } else if ('whole' in change) db.run('delete from parts where key = ?', change.whole)
  else if ('conflict' in change) {
    const { copy, path, at } = change.conflict
    db.run('insert or replace into conflicts values (?, ?, ?)', copy, path, at)
  } else if ('settled' in change) db.run('delete from conflicts where copy = ?', change.settled)
  else db.run('delete from intents where key = ?', change.end)
}
