import type { SqliteFile } from '../../../host/sqlite-file.ts'
import type { JournalEntry, NewEntry } from './journal-entries.ts'
import type { Content } from '../plan/sync-tree.ts'
import type { Postponed } from '../plan/postponed.ts'

export interface Record {
  run: string
  /** Milliseconds since the epoch. */
  at: number
  /** Whether the run ended: the next entry starts a new journal. */
  ended: boolean
  undo: boolean
}

/** The journal of the last run that changed something, and the paths postponed by an undo. */
export interface Journal {
  record(): Record | undefined
  /** In order of execution. */
  journalEntries(): JournalEntry[]
  /** Marks the journal as complete. */
  endRecord(): void
  replaceRecord(record: Record, entries: readonly JournalEntry[]): void
  postponed(): Postponed[]
}

export const JOURNAL_SCHEMA = `
  create table if not exists deeds (seq integer primary key autoincrement, deed text not null) strict;
  create table if not exists holds (key text primary key, hold text not null) strict, without rowid;
`

export type JournalChange = { entry: NewEntry; run: string; at: number } | { postpone: Postponed } | { resume: string }

interface Facts {
  get<T>(name: string): T | undefined
  set(name: string, value: unknown): void
}

type Row = { kind: 'file' | 'dir'; sha256: string | null; size: number | null; mtime: number | null }

export function makeJournal(db: SqliteFile, { get, set }: Facts) {
  const record = (): Record | undefined => get<Record | null>('record') ?? undefined
  const write = (deed: JournalEntry): void => db.run('insert into deeds (deed) values (?)', JSON.stringify(deed))

  function agreed(key: string): Content | null {
    const row = db.get<Row>('select kind, sha256, size, mtime from base where key = ?', key)
    if (!row) return null
    const { kind, sha256, size, mtime } = row
    return kind === 'dir' ? { kind } : { kind, sha256: sha256!, size: size!, mtime: mtime! }
  }

  function begin({ run, at }: { run: string; at: number }): void {
    const before = record()
    if (before?.run === run) return
    // An interrupted run's journal is continued by the next run.
    if (!before || before.ended) db.run('delete from deeds')
    set('record', { run, at, ended: false, undo: false } satisfies Record)
  }

  const memory: Journal = {
    record,
    journalEntries: () =>
      db
        .all<{ deed: string }>('select deed from deeds order by seq')
        .map(({ deed }) => JSON.parse(deed) as JournalEntry),
    endRecord() {
      const last = record()
      if (last && !last.ended) set('record', { ...last, ended: true })
    },
    replaceRecord(next, entries) {
      db.transaction(() => {
        db.run('delete from deeds')
        entries.forEach(write)
        set('record', next)
        set('undoing', null)
      })
    },
    postponed: () =>
      db.all<{ hold: string }>('select hold from holds').map(({ hold }) => JSON.parse(hold) as Postponed),
  }

  return {
    memory,
    apply(change: JournalChange): void {
      if ('postpone' in change) {
        const { key } = change.postpone
        db.run('insert or replace into holds values (?, ?)', key, JSON.stringify(change.postpone))
        // Both sides are unchanged since it was read.
        db.run('delete from base where key = ?', key)
      } else if ('resume' in change) db.run('delete from holds where key = ?', change.resume)
      else append(change)
    },
  }

  function append({ entry, run, at }: Extract<JournalChange, { entry: NewEntry }>): void {
    const before = agreed(entry.key)
    const isOld = entry.deed === 'copy' && entry.what.kind === 'dir' && before !== null
    if (isOld) return
    begin({ run, at })
    write(entry.deed === 'set' && !('before' in entry) ? { ...entry, before } : entry)
  }
}
