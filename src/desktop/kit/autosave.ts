import { batch, effect, signal } from '@preact/signals'
import { bridge } from './bridge.ts'
import { Conflict, uuid, type Fields, type Row, type Table } from './rows.ts'
import type { TableName } from '../../contract/tables.ts'
import { ApiError } from './api-error.ts'

/** What somebody writes and the server does not have yet. */
export interface Draft<N extends TableName> {
  key: string
  /** The row it changes; undefined for a new one. */
  id: number | undefined
  /** Version of the row it is based on. */
  base: number
  fields: Partial<Fields<N>>
  /** What the server was sent last. */
  sent?: Partial<Fields<N>>
  state: 'waiting' | 'saving' | 'conflict' | 'failed'
  /** With `conflict`: the row as it is by now; undefined when it was deleted. */
  theirs?: Row<N> | undefined
  /** With `failed`: why. */
  error?: unknown
}

/** Milliseconds after the last key until a draft is saved. */
const SAVE_DELAY = 700

const isTransient = (error: unknown): boolean =>
  error instanceof ApiError &&
  ['unreachable', 'busy', 'rate_limited', 'maintenance', 'disk_full', 'internal'].includes(error.code)

/** Drafts by key, kept in the browser at every change. */
function makeDraftStore<N extends TableName>(name: string) {
  const all = signal<ReadonlyMap<string, Draft<N>>>(new Map())

  function put(key: string, draft: Draft<N> | undefined): void {
    const next = new Map(all.value)
    if (draft) next.set(key, draft)
    else next.delete(key)
    all.value = next
    const stored = [...next.values()].map(({ key: k, id, base, fields, sent }) => ({ key: k, id, base, fields, sent }))
    bridge.setItem(name, stored.length > 0 ? JSON.stringify(stored) : null)
    bridge.setUnsaved([...next.values()].some(({ state }) => state === 'conflict' || state === 'failed'))
  }

  /** Takes up what an earlier page could not save. */
  async function restore(): Promise<string[]> {
    const text = await bridge.getItem(name)
    const stored = text === null ? [] : (JSON.parse(text) as Draft<N>[])
    batch(() => {
      for (const draft of stored) if (!all.value.has(draft.key)) put(draft.key, { ...draft, state: 'waiting' })
    })
    return stored.map(({ key }) => key)
  }

  return { all, put, restore }
}

/** Whether a row has all of it already: then a save went well whose answer was lost. */
const isStored = <N extends TableName>(row: Row<N> | undefined, fields: Partial<Fields<N>>): boolean =>
  row !== undefined && Object.entries(fields).every(([name, value]) => row[name as keyof Row<N>] === value)

/** Runs something for a key after a while, or when asked again meanwhile, a while after that. */
function makeDebounce(run: (key: string) => void) {
  const timers = new Map<string, ReturnType<typeof setTimeout>>()
  return (key: string, ms = SAVE_DELAY): void => {
    clearTimeout(timers.get(key))
    timers.set(
      key,
      setTimeout(() => run(key), ms),
    )
  }
}

/** A draft with more written into it; one that failed is tried again. */
function withFields<N extends TableName>(draft: Draft<N>, fields: Partial<Fields<N>>): Draft<N> {
  const { state } = draft
  return { ...draft, fields: { ...draft.fields, ...fields }, state: state === 'failed' ? 'waiting' : state }
}

/**
 * Saves what is written a moment after it was, over lost connections and reloads: a draft is kept in the browser until the
 * server has it. What was changed elsewhere meanwhile is not overwritten but becomes a conflict for somebody to decide.
 */
export function makeAutosave<N extends TableName>(table: Table<N>, name: string) {
  const { all: drafts, put, restore } = makeDraftStore<N>(name)
  const saveLater = makeDebounce((key) => void save(key))
  /** Ids that new rows got, by the key of their draft. */
  const insertedIds = new Map<string, number>()

  async function save(key: string): Promise<void> {
    const draft = drafts.value.get(key)
    if (!draft || draft.state === 'saving' || draft.state === 'conflict') return
    const { id, base } = draft
    // An insert whose answer was lost is repeated as it was: its key stands for exactly that.
    const fields = (id === undefined && draft.sent) || draft.fields
    put(key, { ...draft, sent: fields, state: 'saving' })
    try {
      const saved = id === undefined ? await create(key, fields) : await table.update(id, fields, base)
      const now = drafts.value.get(key)
      if (!now) return
      // What was typed while it was saved stands on what was saved.
      if (now.fields === fields) put(key, undefined)
      else {
        put(key, { ...now, id: insertedIds.get(key) ?? id, base: saved, state: 'waiting' })
        saveLater(key)
      }
    } catch (error) {
      const now = drafts.value.get(key)
      if (!now) return
      if (error instanceof Conflict) {
        const theirs = error.current as Row<N> | undefined
        put(key, isStored(theirs, now.fields) ? undefined : { ...now, state: 'conflict', theirs })
      } else if (isTransient(error)) {
        put(key, { ...now, state: 'waiting' })
        saveLater(key, 1_000 * Math.max(5, (error as ApiError).retryAfter ?? 0))
      } else put(key, { ...now, state: 'failed', error: error })
    }
  }

  async function create(key: string, fields: Partial<Fields<N>>): Promise<number> {
    // The key is the operation's id: an answer that was lost does not make a second row.
    const id = await table.insert(fields, key)
    insertedIds.set(key, id)
    return table.get(id)?.version ?? 1
  }

  effect(() => {
    if (bridge.online.value)
      for (const { key, state } of drafts.peek().values()) if (state === 'waiting') void save(key)
  })

  void restore().then((keys) => keys.forEach((key) => void save(key)))

  return {
    /** By key. */
    all: drafts,
    of: (row: number): Draft<N> | undefined => [...drafts.value.values()].find(({ id }) => id === row),
    /** The row that a new draft became. */
    insertedId: (key: string): number | undefined => insertedIds.get(key),
    /** Writes into a row, or with no row into a new one; answers the draft's key. */
    write(row: Row<N> | undefined, fields: Partial<Fields<N>>, key?: string): string {
      const known = row ? [...drafts.value.values()].find(({ id }) => id === row.id) : drafts.value.get(key ?? '')
      const at = known?.key ?? key ?? (row ? `${row.id}` : uuid())
      const draft = known ?? {
        key: at,
        id: row?.id ?? insertedIds.get(at),
        base: row?.version ?? 0,
        fields: {},
        state: 'waiting',
      }
      put(at, withFields(draft, fields))
      if (draft.state !== 'conflict') saveLater(at)
      return at
    },
    /** Saves now what waits. */
    flush: () => [...drafts.value.keys()].forEach((key) => void save(key)),
    /** Ends a conflict, or a failure: what was written here wins, or is forgotten. */
    resolve(key: string, winner: 'mine' | 'theirs'): void {
      const draft = drafts.value.get(key)
      if (!draft) return
      if (winner === 'theirs') {
        put(key, undefined)
        return
      }
      const { theirs, fields } = draft
      put(key, undefined)
      if (theirs) put(key, { key, id: theirs.id, base: theirs.version, fields, state: 'waiting' })
      else {
        const fresh = uuid()
        put(fresh, { key: fresh, id: undefined, base: 0, fields, state: 'waiting' })
        void save(fresh)
      }
      void save(key)
    },
  }
}

export type Autosave<N extends TableName> = ReturnType<typeof makeAutosave<N>>
