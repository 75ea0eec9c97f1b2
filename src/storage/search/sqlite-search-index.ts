import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { fromSystemError } from '../../base/errors.ts'
import { openCopyFile, type SqliteHandle } from '../../host/sqlite-engine.ts'
import { IndexDamaged, type Hit, type IndexUpdate, type Pattern, type SearchIndex } from './search-index.ts'

// The index of a SQLite installation: FTS5 in a file of its own, so that it is in no backup, and its damage is not that of the
// database. It stores neither texts nor positions of words. Terms come ready to be stored, so the tokenizer only splits at spaces.

const SCHEMA = `
  create table if not exists facts (name text primary key, value text not null) strict, without rowid;
  create table if not exists documents (id integer primary key, key integer not null unique, scope integer not null) strict;
  create index if not exists documents_of_scope on documents (scope);
  create virtual table if not exists terms using fts5 (term, content = '', contentless_delete = 1, detail = none,
    tokenize = "ascii tokenchars '-_+'")`

/** Changes with every start of the machine; undefined where unknown. */
function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return undefined
  }
}

const quoted = ({ text, prefix }: Pattern): string => `"${text}"${prefix ? '*' : ''}`

const conjunction = (groups: readonly (readonly Pattern[])[]): string =>
  groups.map((group) => `(${group.map(quoted).join(' OR ')})`).join(' AND ')

/** Writes are not flushed: after a power failure the index is built again. */
const CLEAN = 'clean'

const putFact = (to: SqliteHandle, name: string, value: string) =>
  to.prepare('insert or replace into facts (name, value) values (?, ?)').run(name, value)
const factOf = (from: SqliteHandle, name: string) =>
  from.prepare('select value from facts where name = ?').pluck().get(name) as string | undefined

function openIndex(file: string): SqliteHandle {
  closeSync(openSync(file, 'a', 0o600))
  const opened = openCopyFile(file)
  try {
    opened.pragma('journal_mode = WAL')
    opened.exec(SCHEMA)
    const opening = factOf(opened, 'open_since')
    if (opening !== undefined && opening !== CLEAN && opening !== bootId())
      throw new IndexDamaged('The machine stopped while the search index was open.')
    putFact(opened, 'open_since', bootId() ?? 'unknown')
    return opened
  } catch (error) {
    opened.close()
    throw error
  }
}

function removeDocument(from: SqliteHandle, key: number): void {
  const id = from.prepare('delete from documents where key = ? returning id').pluck().get(key)
  if (id !== undefined) from.prepare('delete from terms where rowid = ?').run(id)
}

/** Terms that are written before others get a turn of the event loop. */
const TERMS_A_TURN = 5_000

async function updateIndex(to: SqliteHandle, { documents, gone, state }: IndexUpdate): Promise<void> {
  const insertDocument = to.prepare('insert into documents (key, scope) values (?, ?)')
  const insertTerms = to.prepare('insert into terms (rowid, term) values (?, ?)')
  to.exec('begin immediate')
  try {
    for (const key of gone) removeDocument(to, key)
    let written = 0
    for (const { key, scope, terms } of documents) {
      removeDocument(to, key)
      insertTerms.run(insertDocument.run(key, scope).lastInsertRowid, terms.join(' '))
      written += terms.length
      if (written < TERMS_A_TURN) continue
      written = 0
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (state !== undefined) putFact(to, 'state', state)
    to.exec('commit')
  } catch (error) {
    if (to.open && to.inTransaction) to.exec('rollback')
    throw error
  }
}

export function sqliteSearchIndex(file: string): SearchIndex {
  let handle: SqliteHandle | undefined

  async function on<T>(work: (handle: SqliteHandle) => T | Promise<T>): Promise<T> {
    try {
      return await work((handle ??= openIndex(file)))
    } catch (error) {
      const code = String((error as { code?: unknown }).code)
      const isDamage = /^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(code)
      throw isDamage ? new IndexDamaged(String(error)) : fromSystemError(error, file)
    }
  }

  function removeFiles(): void {
    handle?.close()
    handle = undefined
    for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true })
  }

  return {
    acquire: () => Promise.resolve(true),
    state: () => on((from) => factOf(from, 'state')),
    clear(state) {
      removeFiles()
      return on((to) => void putFact(to, 'state', state))
    },
    update: (update) =>
      on(async (to) => {
        await updateIndex(to, update)
        return true
      }),
    find: ({ all, not, scopes, before = Number.MAX_SAFE_INTEGER, limit }) =>
      on((from) => {
        const match = `${conjunction(all)}${not ? ` NOT (${conjunction(not)})` : ''}`
        const statement = from.prepare(`select d.id, d.key from terms join documents d on d.id = terms.rowid
          where terms match ? and terms.rowid < ? and d.scope in (select value from json_each(?))
          order by terms.rowid desc limit ?`)
        return statement.all(match, before, JSON.stringify(scopes), limit) as Hit[]
      }),
    scopes: () => on((from) => from.prepare('select distinct scope from documents').pluck().all() as number[]),
    removeScope: (scope) =>
      on((from) => {
        const keys = from.prepare('select key from documents where scope = ?').pluck().all(scope) as number[]
        from.transaction(() => keys.forEach((key) => removeDocument(from, key)))()
      }),
    close() {
      if (!handle) return Promise.resolve()
      return on((open) => {
        open.pragma('synchronous = FULL')
        putFact(open, 'open_since', CLEAN)
        open.close()
        handle = undefined
      })
    },
  }
}
