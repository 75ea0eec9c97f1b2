import type { SqliteFile } from '../../host/sqlite-file.ts'
import type { Deed, Holding, Noted, SideName } from './deeds.ts'
import type { Place } from './draft.ts'

/** Which run the deeds are of. */
export interface Record {
  run: string
  /** Milliseconds since the epoch. */
  at: number
  /** Whether it came to its end: what comes next begins a new record. */
  ended: boolean
  /** Whether it was one that took another back. */
  undo: boolean
}

/** What was taken back on one side and stays on the other as it is: runs leave it alone until it changes. */
export interface Hold extends Place {
  /** Where it stays. */
  side: SideName
  what: Holding
}

/** What is remembered of the last run that changed something, and what is held back since it was taken back. */
export interface DeedMemory {
  record(): Record | undefined
  /** In the order in which they came about. */
  deeds(): Deed[]
  /** The record is complete. */
  endRecord(): void
  /** Puts another record in the place of this one. */
  replaceRecord(record: Record, deeds: readonly Deed[]): void
  holds(): Hold[]
}

export const DEEDS_SCHEMA = `
  create table if not exists deeds (seq integer primary key autoincrement, deed text not null) strict;
  create table if not exists holds (key text primary key, hold text not null) strict, without rowid;
`

/** What one commit changes of it. */
export type DeedChange = { note: Noted; run: string; at: number } | { hold: Hold } | { release: string }

interface Facts {
  get<T>(name: string): T | undefined
  set(name: string, value: unknown): void
}

type Row = { kind: 'file' | 'dir'; sha256: string | null; size: number | null; mtime: number | null }

export function makeDeedMemory(db: SqliteFile, { get, set }: Facts) {
  const record = (): Record | undefined => get<Record | null>('record') ?? undefined
  const write = (deed: Deed): void => db.run('insert into deeds (deed) values (?)', JSON.stringify(deed))

  function agreed(key: string): Holding | null {
    const row = db.get<Row>('select kind, sha256, size, mtime from base where key = ?', key)
    if (!row) return null
    const { kind, sha256, size, mtime } = row
    return kind === 'dir' ? { kind } : { kind, sha256: sha256!, size: size!, mtime: mtime! }
  }

  function begin({ run, at }: { run: string; at: number }): void {
    const before = record()
    if (before?.run === run) return
    // What a run that was cut off began, the next one completes.
    if (!before || before.ended) db.run('delete from deeds')
    set('record', { run, at, ended: false, undo: false } satisfies Record)
  }

  const memory: DeedMemory = {
    record,
    deeds: () =>
      db.all<{ deed: string }>('select deed from deeds order by seq').map(({ deed }) => JSON.parse(deed) as Deed),
    endRecord() {
      const last = record()
      if (last && !last.ended) set('record', { ...last, ended: true })
    },
    replaceRecord(next, deeds) {
      db.transaction(() => {
        db.run('delete from deeds')
        deeds.forEach(write)
        set('record', next)
        set('undoing', null)
      })
    },
    holds: () => db.all<{ hold: string }>('select hold from holds').map(({ hold }) => JSON.parse(hold) as Hold),
  }

  return {
    memory,
    apply(change: DeedChange): void {
      if ('hold' in change) {
        const { key } = change.hold
        db.run('insert or replace into holds values (?, ?)', key, JSON.stringify(change.hold))
        // What was read of it is still so.
        db.run('delete from base where key = ?', key)
      } else if ('release' in change) db.run('delete from holds where key = ?', change.release)
      else note(change)
    },
  }

  function note({ note: noted, run, at }: Extract<DeedChange, { note: Noted }>): void {
    const before = agreed(noted.key)
    const isOld = noted.deed === 'copy' && noted.what.kind === 'dir' && before !== null
    if (isOld) return
    begin({ run, at })
    write(noted.deed === 'set' && !('before' in noted) ? { ...noted, before } : noted)
  }
}
