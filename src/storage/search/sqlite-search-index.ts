import { readFileSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { errorCode, fromSystemError } from '../../base/errors.ts'
import { openSqliteThread, type SqliteThread, type SqlStatement } from '../../host/sqlite-thread.ts'
import { IndexDamaged, type Hit, type IndexedDocument, type Pattern, type SearchIndex } from './search-index.ts'

// The index of a SQLite installation: FTS5 in a file of its own, so that it is in no backup, and its damage is not that of the
// database. It stores neither texts nor positions of words. Terms come ready to be stored, so the tokenizer only splits at spaces.
// All statements run on a thread, because some take long in a large index.

const SETUP = `
  pragma journal_mode = wal;
  create table if not exists facts (name text primary key, value text not null) strict, without rowid;
  create table if not exists documents (id integer primary key, key integer not null unique, scope integer not null) strict;
  create index if not exists documents_of_scope on documents (scope);
  create virtual table if not exists terms using fts5 (term, content = '', contentless_delete = 1, detail = none,
    prefix = '3', tokenize = "ascii tokenchars '-_+'");
  insert into terms (terms, rank) values ('automerge', 0), ('crisismerge', 1999);`

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

const putFact = (name: string, value: string): SqlStatement => ({
  sql: 'insert or replace into facts (name, value) values (?, ?)',
  values: [name, value],
})

async function factOf(from: SqliteThread, name: string): Promise<string | undefined> {
  const [row] = await from.run({ sql: 'select value from facts where name = ?', values: [name] })
  return (row as { value: string } | undefined)?.value
}

const removal = (key: number): SqlStatement[] => [
  { sql: 'delete from terms where rowid in (select id from documents where key = ?)', values: [key] },
  { sql: 'delete from documents where key = ?', values: [key] },
]

const addition = ({ key, scope, terms }: IndexedDocument): SqlStatement[] => [
  { sql: 'insert into documents (key, scope) values (?, ?)', values: [key, scope] },
  {
    sql: 'insert into terms (rowid, term) select id, ? from documents where key = ?',
    values: [terms.join(' '), key],
  },
]

/** Terms that are written in one transaction, and documents that are removed: searches wait for it. */
const TERMS_AT_ONCE = 20_000
const REMOVALS_AT_ONCE = 500

/** Merges segments, in steps between which searches have their turn: by itself FTS5 merges large ones at once. */
const MERGE: SqlStatement = { sql: "insert into terms (terms, rank) values ('merge', 64)" }
/** Written terms for which one step keeps the number of segments small. */
const TERMS_A_MERGE = 2_500

function* portionsOf(documents: readonly IndexedDocument[]): Generator<IndexedDocument[]> {
  let portion: IndexedDocument[] = []
  let terms = 0
  for (const document of documents) {
    portion.push(document)
    terms += document.terms.length
    if (terms < TERMS_AT_ONCE) continue
    yield portion
    ;[portion, terms] = [[], 0]
  }
  if (portion.length > 0) yield portion
}

/** An opening that failed has nothing open. */
async function closeThread(opening: Promise<SqliteThread> | undefined): Promise<void> {
  const thread = await opening?.catch(() => undefined)
  await thread?.close()
}

async function openIndex(file: string, onEnd: () => void): Promise<SqliteThread> {
  await (await open(file, 'a', 0o600)).close()
  const opened = openSqliteThread(file, SETUP, onEnd)
  try {
    const opening = await factOf(opened, 'open_since')
    if (opening !== undefined && opening !== CLEAN && opening !== bootId())
      throw new IndexDamaged('The machine stopped while the search index was open.')
    await opened.run(putFact('open_since', bootId() ?? 'unknown'))
    return opened
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** The index in a file of its own (FTS5). Methods throw `IndexDamaged` when it has to be built again. */
export function sqliteSearchIndex(file: string): SearchIndex {
  let opening: Promise<SqliteThread> | undefined

  /** Whoever uses the index from now on waits for `open`. */
  function begin(open: (forget: () => void) => Promise<SqliteThread>): Promise<SqliteThread> {
    const forget = () => {
      if (opening === began) opening = undefined
    }
    const began = (opening = open(forget))
    began.catch(forget)
    return began
  }

  const opened = () => opening ?? begin((forget) => openIndex(file, forget))

  async function on<T>(work: (thread: SqliteThread) => Promise<T>): Promise<T> {
    try {
      return await work(await opened())
    } catch (error) {
      const isDamage = /^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(errorCode(error))
      throw isDamage ? new IndexDamaged(String(error)) : fromSystemError(error, file)
    }
  }

  return {
    acquire: () => Promise.resolve(true),
    state: () => on((from) => factOf(from, 'state')),
    async clear(state) {
      const before = opening
      const emptied = begin(async (forget) => {
        await closeThread(before)
        for (const ending of ['', '-wal', '-shm']) await rm(file + ending, { force: true })
        return openIndex(file, forget)
      })
      await on(async () => (await emptied).run(putFact('state', state)))
    },
    update: ({ documents, gone, state }) =>
      on(async (to) => {
        // First what is removed: FTS5 ends a segment when it gets a smaller ID.
        for (const some of portionsOf(documents)) {
          const replaced = some.flatMap(({ key }) => removal(key))
          await to.run(...replaced, ...some.flatMap(addition))
          const written = some.reduce((sum, { terms }) => sum + terms.length, 0)
          for (let merged = 0; merged < written; merged += TERMS_A_MERGE) await to.run(MERGE)
        }
        const rest = [...gone.flatMap(removal), ...(state === undefined ? [] : [putFact('state', state)])]
        if (rest.length > 0) await to.run(...rest)
        return true
      }),
    find: ({ all, not, scopes, before = Number.MAX_SAFE_INTEGER, limit }) =>
      on(async (from) => {
        const match = `${conjunction(all)}${not ? ` NOT (${conjunction(not)})` : ''}`
        const sql = `select d.id, d.key from terms join documents d on d.id = terms.rowid
          where terms match ? and terms.rowid < ? and d.scope in (select value from json_each(?))
          order by terms.rowid desc limit 0 + ?`
        return (await from.run({ sql, values: [match, before, JSON.stringify(scopes), limit] })) as Hit[]
      }),
    scopes: () =>
      on(async (from) => {
        const rows = await from.run({ sql: 'select distinct scope from documents' })
        return (rows as { scope: number }[]).map(({ scope }) => scope)
      }),
    removeSome: (scope) =>
      on(async (from) => {
        const sql = 'select key from documents where scope = ? limit 0 + ?'
        const keys = (await from.run({ sql, values: [scope, REMOVALS_AT_ONCE] })) as { key: number }[]
        if (keys.length > 0) await from.run(...keys.flatMap(({ key }) => removal(key)))
        return keys.length === REMOVALS_AT_ONCE
      }),
    async close() {
      if (!opening) return
      const last = opening
      // Flushed with the last statement. Where it fails, the next start of the machine builds the index again.
      await last
        .then(async (thread) => {
          await thread.run({ sql: 'pragma synchronous = full' })
          await thread.run(putFact('open_since', CLEAN))
        })
        .catch(() => undefined)
      opening = undefined
      await closeThread(last)
    },
  }
}
