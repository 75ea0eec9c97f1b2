import { feedTables } from '../../contract/tables.ts'
import { Unreachable } from '../errors.ts'
import type { Everything, Page, RowChange, ServerRow, Waiting } from './replica-records.ts'
import type { Outcome } from '../rows/operation.ts'

// Validates all data from a server before it is used.

/** The server sent invalid rows or results; none of them were applied. */
export class InvalidRows extends Unreachable {
  override name = 'UnsoundRows'
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const isId = (value: unknown): value is number => isCount(value) && value > 0
const KNOWN: ReadonlySet<unknown> = new Set(feedTables)

const unsound = (from: string, what: string): InvalidRows =>
  new InvalidRows(`${from} sent ${what}: it is not a valid svc server. None of it was applied.`)

function named(document: unknown, from: string): Record<string, unknown> & { epoch: string; server_id: string } {
  const { epoch, server_id } = isObject(document) ? document : {}
  if (!isObject(document) || typeof epoch !== 'string' || typeof server_id !== 'string')
    throw unsound(from, 'an answer without its name')
  return { ...document, epoch, server_id }
}

const isRow = (value: unknown): value is ServerRow =>
  isObject(value) && isId(value['id']) && (value['version'] === undefined || isCount(value['version']))

/** Parses a page of `delta` requested after a cursor. Unknown tables are dropped. */
export function readPage(answer: unknown, after: number, from: string): Page {
  const { changes, cursor, has_more: more, epoch, server_id } = named(answer, from)
  if (!Array.isArray(changes) || !isCount(cursor) || typeof more !== 'boolean')
    throw unsound(from, 'no page of changes')
  if (cursor < after || (more && cursor === after)) throw unsound(from, 'a page that does not advance the cursor')
  const read: RowChange[] = []
  for (const change of changes as unknown[]) {
    const { table, operation, data, cursor: at } = isObject(change) ? change : {}
    const isSound = ['INSERT', 'UPDATE', 'DELETE'].includes(String(operation)) && isCount(at) && isRow(data)
    if (!isSound || at <= after || at > cursor) throw unsound(from, 'a change that is none')
    if (KNOWN.has(table)) read.push({ table: String(table), row: data, deleted: operation === 'DELETE', cursor: at })
  }
  return { changes: read, cursor, epoch, server_id, more }
}

/** Parses a response of `initial_sync`. */
export function readEverything(answer: unknown, from: string): Everything {
  const { data, cursor, epoch, server_id } = named(answer, from)
  if (!isObject(data) || !isCount(cursor)) throw unsound(from, 'no list of rows')
  const rows = new Map<string, ServerRow[]>()
  for (const [table, list] of Object.entries(data)) {
    if (!KNOWN.has(table)) continue
    if (!Array.isArray(list) || !list.every(isRow)) throw unsound(from, `rows of ${table} that are none`)
    if (new Set(list.map(({ id }) => id)).size !== list.length) throw unsound(from, `a row of ${table} twice`)
    rows.set(table, list)
  }
  return { rows, cursor, epoch, server_id }
}

const STATUSES: ReadonlySet<unknown> = new Set(['applied', 'duplicate', 'conflict', 'error'])

/** The results of a push, matched with its operations. */
export function readOutcomes(answer: unknown, batch: readonly Waiting[], from: string): Outcome[] {
  const results: unknown = isObject(answer) ? answer['results'] : undefined
  if (!Array.isArray(results) || results.length !== batch.length) {
    const count = Array.isArray(results) ? results.length : 'no'
    throw unsound(from, `${count} results to ${batch.length} changes`)
  }
  for (const [index, result] of (results as unknown[]).entries()) {
    if (!isOutcome(result, index, batch[index]!))
      throw unsound(from, `a result that does not belong to change ${index + 1}`)
  }
  return results as Outcome[]
}

function isOutcome(result: unknown, index: number, { op_id, verb, row }: Waiting): boolean {
  if (!isObject(result) || result['index'] !== index || !STATUSES.has(result['status'])) return false
  const { ok, status, id, version, op_id: named, current } = result
  const done = status === 'applied' || status === 'duplicate'
  if (ok !== done || (named !== undefined && named !== op_id)) return false
  if (version !== null && version !== undefined && !isCount(version)) return false
  if (done) return verb === 'INSERT' ? isId(id) && isCount(version) : id === row
  return status !== 'conflict' || (isRow(current) && current.id === row && isCount(current['version']))
}
