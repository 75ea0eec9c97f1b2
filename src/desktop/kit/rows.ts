import { computed, signal } from '@preact/signals'
import { tables, type Column, type TableName } from '../../contract/tables.ts'
import type { AnswerOf } from '../wire/actions.ts'
import { bridge } from './bridge.ts'
import { ApiError } from './api-error.ts'
import { followSnapshot } from './row-snapshot.ts'

type Columns<N extends TableName> = (typeof tables)[N]['columns']

type Plain<C> = C extends { type: 'integer' | 'real' }
  ? number
  : C extends { type: 'boolean' }
    ? boolean
    : C extends { type: 'texts' }
      ? string[]
      : string

type Value<C> = C extends { required: true } | { default: unknown } ? Plain<C> : Plain<C> | null

/** The writable columns of a table. */
export type Fields<N extends TableName> = { [K in keyof Columns<N>]: Value<Columns<N>[K]> }

/** A row of the server. */
export type Row<N extends TableName> = Fields<N> & {
  id: number
  version: number
  created_at: string
  updated_at: string
}

/** The row was changed by someone else; nothing was written. */
export class Conflict<N extends TableName = TableName> extends Error {
  override name = 'Conflict'
  /** The current row; undefined if it was deleted. */
  readonly current: Row<N> | undefined

  constructor(current: Row<N> | undefined) {
    super('The row was changed elsewhere.')
    this.current = current
  }
}

/** A random UUID (RFC 9562, version 4). `crypto.randomUUID` exists only in secure contexts. */
export function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

interface Operation {
  operation: 'INSERT' | 'UPDATE' | 'DELETE'
  data: object
  base_version?: number
}

/** A change of the rows; `cursor` is its position in the feed. */
interface Edit<N extends TableName> {
  cursor: number
  apply: (rows: Map<number, Row<N>>) => void
}

/** The rows of a table, kept up to date by the feed. */
export function openTable<N extends TableName>(table: N) {
  const byId = signal<ReadonlyMap<number, Row<N>>>(new Map())
  const isLoaded = signal(false)
  const loadError = signal<unknown>(undefined)

  const snapshot = followSnapshot<AnswerOf<'rows.list'>, Edit<N>>({
    request: () => bridge.call('rows.list', { tables: table }),
    onSnapshot({ data }) {
      byId.value = new Map((data[table] as unknown as Row<N>[]).map((row) => [row.id, row]))
      isLoaded.value = true
      loadError.value = undefined
    },
    onChanges(edits) {
      const next = new Map(byId.value)
      for (const { apply } of edits) apply(next)
      byId.value = next
    },
    onError: (error) => void (loadError.value = error),
  })

  const unwatch = bridge.watch([table], (changes, reset) => {
    if (reset) return snapshot.reset()
    snapshot.receive(
      changes.map(({ operation, data, cursor }) => ({
        cursor,
        apply: (rows) =>
          operation === 'DELETE' ? void rows.delete(data.id) : putNewer(rows, data as unknown as Row<N>),
      })),
    )
  })

  /** Applies a change of this page, which a snapshot that is loading may lack. */
  const edit = (apply: Edit<N>['apply']): void => snapshot.receive([{ cursor: Infinity, apply }])

  /** Keeps the newer version: responses and feed may arrive in any order. */
  function putNewer(rows: Map<number, Row<N>>, row: Row<N>): void {
    const known = rows.get(row.id)
    if (!known || known.version <= row.version) rows.set(row.id, row)
  }

  async function write(operation: Operation, op_id = uuid()) {
    const { results } = await bridge.call('rows.push', { operations: [{ table, op_id, ...operation }] })
    const result = results[0]!
    if (result.status === 'conflict') throw new Conflict(result.current as unknown as Row<N> | undefined)
    if (result.status === 'error') {
      if (result.code === 'gone') throw new Conflict(undefined)
      throw new ApiError({ code: result.code ?? 'bad_request', message: result.error ?? '' })
    }
    return result
  }

  void snapshot.load()
  return {
    columns: tables[table].columns as Record<string, Column>,
    /** All rows, unordered. */
    rows: computed(() => [...byId.value.values()]),
    get: (id: number) => byId.value.get(id),
    isLoaded,
    loadError,
    load: snapshot.load,
    /** Inserts a row and returns its id. Idempotent with the same `opId`. */
    async insert(data: Partial<Fields<N>>, opId?: string): Promise<number> {
      const { id, version } = await write({ operation: 'INSERT', data }, opId)
      const now = new Date().toISOString()
      const row = { created_at: now, updated_at: now, ...data, id: id!, version: version! } as unknown as Row<N>
      edit((rows) => putNewer(rows, row))
      return id!
    },
    /** Updates a row and returns its new version. Throws `Conflict` if `base` is not the current version. */
    async update(id: number, data: Partial<Fields<N>>, base: number): Promise<number> {
      const { version } = await write({ operation: 'UPDATE', data: { ...data, id }, base_version: base })
      const updated_at = new Date().toISOString()
      edit((rows) => {
        const known = rows.get(id)
        if (known) putNewer(rows, { ...known, ...data, version: version!, updated_at })
      })
      return version!
    },
    async remove(id: number): Promise<void> {
      await write({ operation: 'DELETE', data: { id } })
      edit((rows) => void rows.delete(id))
    },
    /** Unsubscribes from the feed. */
    stop(): void {
      unwatch()
      snapshot.stop()
    },
  }
}

export type Table<N extends TableName> = ReturnType<typeof openTable<N>>
