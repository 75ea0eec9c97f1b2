import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { byteLength } from '../../base/text.ts'
import { PUSH_BODY, PUSH_OPERATIONS } from '../../contract/limits.ts'
import type { SqliteFile } from '../../host/sqlite-file.ts'
import type { Row } from '../rows/row-values.ts'
import type { Operation } from '../rows/operation.ts'
import type { Base } from './replica-base.ts'
import { makeQueueStore } from './queue-store.ts'
import type { Change, Waiting } from './replica-records.ts'

/** The replica does not have this row, or no longer has it. */
export class NoSuchRow extends Error {
  override name = 'NoSuchRow'
}

/** The caller's operation ID was used for another operation. */
class OpReused extends Error {
  override name = 'OpReused'
  readonly exitCode = 6
  readonly reason = 'op_id_reuse'
}

/** Upper bound of a request body beside its operations, bytes. */
const ENVELOPE = 1_024

/** The operation as it is sent. */
export const operationOf = ({ table, verb, row, values, op_id, base_version }: Waiting): Operation => ({
  table,
  operation: verb,
  data: verb === 'INSERT' ? values : { ...values, id: row },
  op_id,
  ...(base_version === null ? {} : { base_version }),
})

/** Changes waiting to be sent, in order. Called within a transaction. */
export function makeQueue(db: SqliteFile, base: Base) {
  const store = makeQueueStore(db, base)

  /** Merges a change with the previous one, if that was not sent. */
  function joined(last: Waiting | undefined, { values, op_id, base_version }: Change): Waiting | undefined {
    const isOwn = op_id !== undefined || base_version !== undefined
    if (!last || last.sent || last.fixed || last.strict || isOwn) return undefined
    const both = { ...last.values, ...values }
    store.hold(last.seq, both)
    return { ...last, values: both }
  }

  /** Removes unsent changes of a row to be deleted, `isApart` only if it was never sent; returns what they were based on. */
  function dropUnsent(
    earlier: Waiting[],
    isApart: boolean,
  ): { left: Waiting[]; first: Waiting | undefined; unborn: boolean } {
    const insertion = earlier.find(({ verb }) => verb === 'INSERT')
    const unborn = insertion !== undefined && !insertion.sent
    const gone = earlier.filter(({ sent, fixed }) => unborn || (!isApart && !sent && !fixed))
    for (const { seq } of gone) store.remove(seq)
    return { left: earlier.filter((each) => !gone.includes(each)), first: gone[0], unborn }
  }

  return {
    ...store,

    /** Removes unsent changes; later ones of the row are then based on what these were. Returns those that may have been sent. */
    withdraw(seqs: readonly number[]): number[] {
      const open = store.all().filter(({ seq }) => seqs.includes(seq))
      for (const { seq, sent, table, row, base_version, chained } of open) {
        if (sent) continue
        store.remove(seq)
        if (!chained) store.unchain(table, row, base_version)
      }
      return open.filter(({ sent }) => sent).map(({ seq }) => seq)
    },

    /**
     * `before` is the row in the local view. With `isApart`, earlier changes of the row stay as they are: the caller may
     * withdraw this one. Undefined if nothing is left to send, because the row was never sent.
     */
    add(change: Change, before: Row | undefined, at: number, isApart = false): Waiting | undefined {
      const { table, verb, values, op_id, base_version } = change
      const twin = op_id === undefined ? undefined : store.byOp(op_id)
      if (twin) {
        const same = twin.table === table && twin.verb === verb && isDeepStrictEqual(twin.values, values)
        if (same && (verb === 'INSERT' || twin.row === store.resolve(change.row!))) return twin
        throw new OpReused('The operation was not queued: its id is that of another one that waits here.')
      }
      const common = { op_id: op_id ?? randomUUID(), table, verb, fixed: op_id !== undefined, sent: false, at }
      const strict = base_version !== undefined
      if (verb === 'INSERT') {
        const row = store.nextLocalId()
        return store.insert({ ...common, row, values, base_version: null, chained: false, before: null, strict: false })
      }
      const row = store.resolve(change.row!)
      let earlier = store.ofRow(table, row)
      const known = earlier.at(-1)?.verb !== 'DELETE' && (row > 0 || earlier.length > 0)
      if (!known) throw new NoSuchRow(`There is no row ${change.row} in ${table}.`)
      if (verb === 'UPDATE' && !isApart) {
        const whole = joined(earlier.at(-1), change)
        if (whole) return whole
      }
      let based: Waiting | undefined
      if (verb === 'DELETE') {
        const { left, first, unborn } = dropUnsent(earlier, isApart)
        if (unborn) return undefined
        earlier = left
        based = first
      }
      const chained = !strict && !common.fixed && (earlier.length > 0 || based?.chained === true)
      const free = common.fixed || chained
      const version =
        base_version ?? (free ? null : (based?.base_version ?? (base.row(table, row)?.['version'] as number)))
      const then = (verb === 'DELETE' ? based?.before : undefined) ?? before ?? null
      return store.insert({ ...common, row, values, base_version: version ?? null, chained, before: then, strict })
    },

    /** Takes and marks the next operations, at most `most`, none of which depends on the result of an earlier one. */
    nextBatch(most = PUSH_OPERATIONS): Waiting[] {
      const batch: Waiting[] = []
      let bytes = ENVELOPE
      for (const waiting of store.first(Math.min(most, PUSH_OPERATIONS))) {
        if (waiting.chained || (waiting.row < 0 && waiting.verb !== 'INSERT')) break
        bytes += byteLength(JSON.stringify(operationOf(waiting))) + 1
        if (batch.length > 0 && bytes > PUSH_BODY) break
        batch.push(waiting)
      }
      store.sent(batch)
      return batch
    },
  }
}

export type Queue = ReturnType<typeof makeQueue>
