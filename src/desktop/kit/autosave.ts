import { batch, effect, signal } from '@preact/signals'
import { bridge } from './bridge.ts'
import { Conflict, uuid, type Fields, type Row, type Table } from './rows.ts'
import type { TableName } from '../../contract/tables.ts'
import { describeError, isTransient } from './api-error.ts'
import { lengthProblem } from './column-values.ts'

/** Input that is not saved yet. */
export interface Draft<N extends TableName> {
  key: string
  /** The changed row; undefined for a new one. */
  id: number | undefined
  /** Version of the row that the draft is based on. */
  base: number
  fields: Partial<Fields<N>>
  /** Fields of the last request to insert the row, unless the server refused them. */
  sent?: Partial<Fields<N>> | undefined
  state: 'waiting' | 'saving' | 'conflict' | 'failed'
  /** With `conflict`: the current row; undefined if it was deleted. */
  theirs?: Row<N> | undefined
  /** With `failed`. */
  error?: unknown
  /** Nothing was entered: the draft only shows what was deleted elsewhere. */
  isUntouched?: boolean
}

/** Delay from the last input to saving, ms. */
const SAVE_DELAY = 700

/** What is stored of a draft. */
const textOf = <N extends TableName>({ key, id, base, fields, sent }: Draft<N>): string =>
  JSON.stringify({ key, id, base, fields, ...(sent !== fields && { sent }) })

/** Drafts by key; every change is written to the browser's storage. */
function makeDraftStore<N extends TableName>(prefix: string) {
  const all = signal<ReadonlyMap<string, Draft<N>>>(new Map())

  function put(key: string, draft: Draft<N> | undefined): void {
    const next = new Map(all.value)
    if (draft) next.set(key, draft)
    else next.delete(key)
    all.value = next
    const entered = [...next.values()].filter(({ isUntouched }) => !isUntouched)
    void bridge.keepDraft(`${prefix}${key}`, draft && !draft.isUntouched ? textOf(draft) : null)
    bridge.setUnsaved(entered.some(({ state }) => state === 'conflict' || state === 'failed'))
  }

  async function restore(): Promise<string[]> {
    const texts = [...(await bridge.restoreDrafts(prefix)).values()]
    const stored = texts.map((text) => JSON.parse(text) as Draft<N>)
    batch(() => {
      for (const draft of stored) if (!all.value.has(draft.key)) put(draft.key, { ...draft, state: 'waiting' })
    })
    return stored.map(({ key }) => key)
  }

  /** Keeps what is known of a row that was deleted elsewhere while it was open or changed. */
  function keepDeleted(key: string, id: number, known: Fields<N>): void {
    const draft = all.value.get(key)
    const fields = { ...known, ...draft?.fields }
    const isUntouched = draft === undefined || draft.isUntouched === true
    put(key, { base: 0, ...draft, key, id, fields, state: 'conflict', theirs: undefined, isUntouched })
  }

  return { all, put, restore, keepDeleted }
}

/** Whether a row has these values already, because the response to a successful save was lost. */
const isStored = <N extends TableName>(row: Row<N> | undefined, fields: Partial<Fields<N>>): boolean =>
  row !== undefined && Object.entries(fields).every(([name, value]) => row[name as keyof Row<N>] === value)

/** Why a draft cannot be saved as it is, in the user's language. */
export const problemOf = <N extends TableName>(
  { columns }: Table<N>,
  { fields, state, error }: Draft<N>,
): string | undefined => lengthProblem(columns, fields) ?? (state === 'failed' ? describeError(error) : undefined)

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

/** Adds fields to a draft; a failed one is retried. */
function withFields<N extends TableName>(draft: Draft<N>, fields: Partial<Fields<N>>): Draft<N> {
  const { state } = draft
  return {
    ...draft,
    fields: { ...draft.fields, ...fields },
    state: state === 'failed' ? 'waiting' : state,
    isUntouched: false,
  }
}

/**
 * Saves input shortly after it was made. Drafts survive reloads and lost connections in the browser's storage.
 * Concurrent changes of other clients become conflicts for the user to resolve.
 */
export function makeAutosave<N extends TableName>(table: Table<N>) {
  const { all: drafts, put, restore, keepDeleted } = makeDraftStore<N>('row:')
  const saveLater = makeDebounce((key) => void save(key))
  /** Ids of new rows, by the key of their draft. */
  const insertedIds = new Map<string, number>()

  async function save(key: string): Promise<void> {
    const draft = drafts.value.get(key)
    if (!draft || draft.state === 'saving' || draft.state === 'conflict') return
    const { id, base } = draft
    // A retried insert must have the same fields: the server deduplicates by key.
    const fields = (id === undefined && draft.sent) || draft.fields
    if (lengthProblem(table.columns, fields) !== undefined) return put(key, { ...draft, state: 'failed' })
    put(key, { ...draft, sent: id === undefined ? fields : undefined, state: 'saving' })
    try {
      const saved = id === undefined ? await create(key, fields) : await table.update(id, fields, base)
      const now = drafts.value.get(key)
      if (!now) return
      // Input made while saving is based on the saved version.
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
        saveLater(key, 1_000 * Math.max(5, error.retryAfter ?? 0))
      } else put(key, { ...now, sent: undefined, state: 'failed', error })
    }
  }

  async function create(key: string, fields: Partial<Fields<N>>): Promise<number> {
    // The key is the operation id: if the response is lost, a retry does not insert a second row.
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
    all: drafts,
    of: (row: number): Draft<N> | undefined => [...drafts.value.values()].find(({ id }) => id === row),
    insertedId: (key: string): number | undefined => insertedIds.get(key),
    /** Changes a row, or creates one if `row` is undefined. Returns the key of the draft. */
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
    flush: () => [...drafts.value.keys()].forEach((key) => void save(key)),
    keepDeleted,
    /**
     * Resolves a conflict or a failure: saves or discards the draft. A row that was deleted elsewhere becomes a new one with all
     * `known` fields. Returns the key of the entry.
     */
    resolve(key: string, winner: 'mine' | 'theirs', known: Partial<Fields<N>> = {}): string {
      const draft = drafts.value.get(key)
      if (!draft) return key
      put(key, undefined)
      if (winner === 'theirs') return key
      const { theirs, fields } = draft
      if (theirs) put(key, { key, id: theirs.id, base: theirs.version, fields, state: 'waiting' })
      else {
        const fresh = uuid()
        put(fresh, { key: fresh, id: undefined, base: 0, fields: { ...known, ...fields }, state: 'waiting' })
        void save(fresh)
        return fresh
      }
      void save(key)
      return key
    },
  }
}

export type Autosave<N extends TableName> = ReturnType<typeof makeAutosave<N>>
