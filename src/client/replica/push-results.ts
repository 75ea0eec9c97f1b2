import { iso } from '../../base/clock.ts'
import type { Row } from '../rows/row-values.ts'
import type { Outcome } from '../rows/operation.ts'
import type { Base } from './replica-base.ts'
import type { RejectedChanges } from './rejected-changes.ts'
import { merge } from './row-merge.ts'
import type { Queue } from './change-queue.ts'
import type { RejectedChange, ServerRow, Waiting } from './replica-records.ts'
import { filled } from './row-view.ts'

/** Results that a caller awaits and handles, by `seq`. */
export type Awaited = ReadonlySet<number>

/** What happened to a change: done, queued again, rejected, or handed to the caller. */
export type PushResult = 'done' | 'again' | 'rejected' | 'returned'

interface Parts {
  base: Base
  queue: Queue
  rejected: RejectedChanges
}

const GONE = 'The row was deleted elsewhere.'

/** An applied change stays visible until the feed contains the row. */
function applyOutcome({ base, queue }: Parts, waiting: Waiting, outcome: Outcome, awaited: boolean): void {
  const { seq, table, verb, row, values, at } = waiting
  const { version } = outcome
  queue.remove(seq)
  if (verb === 'DELETE') base.remove(table, row)
  else if (verb === 'INSERT') {
    const id = outcome.id!
    const time = { created_at: iso(at), updated_at: iso(at) }
    // Until the feed contains the server's row, use what was sent.
    if (!base.row(table, id))
      base.upsert(table, { id, version: version!, ...time, ...filled(table, values) } as ServerRow)
    // Nobody knows the old ID of a row whose result is awaited.
    queue.born(table, row, id, !awaited)
    queue.unchain(table, id, version)
    return
  } else {
    const known = base.row(table, row)
    const next = known && typeof known['version'] === 'number' ? known['version'] + 1 : undefined
    if (known && typeof version === 'number' && next !== undefined && version >= next) {
      // Others may have changed more columns in between: keep the old version then.
      base.upsert(table, { ...known, ...values, version: version === next ? version : known['version'] })
    }
  }
  queue.unchain(table, row, version)
}

/** Applies the results of a push. Called within a transaction. */
export function makeOutcomes({ base, queue, rejected }: Parts) {
  function write(
    waiting: Waiting,
    rejectedChange: Pick<RejectedChange, 'kind' | 'mine' | 'theirs' | 'code' | 'message'>,
    now: number,
  ): void {
    const { op_id, table, verb, row, before } = waiting
    rejected.add({ op_id, table, verb, row, before, at: now, ...rejectedChange })
  }

  /** Another client changed the row: columns changed only here are sent again; the others are rejected. */
  function conflict(waiting: Waiting, theirs: ServerRow, awaited: boolean, now: number): PushResult {
    const { seq, table, verb, row, values, before, strict, base_version } = waiting
    const version = theirs['version'] as number
    base.upsert(table, theirs)
    const isAwaited = awaited && strict
    if (awaited && !strict) {
      // A caller who awaits the result means the current row.
      if (verb === 'DELETE') queue.rewrite(seq, {}, version, theirs)
      else queue.rewrite(seq, values, version, theirs)
      return 'again'
    }
    const { mine, contested } = strict ? { mine: {}, contested: values } : merge(values, before, theirs)
    const needsDecision = !isAwaited && (verb === 'DELETE' || Object.keys(contested).length > 0)
    if (needsDecision) {
      const message =
        verb === 'DELETE' ? 'It was deleted locally and changed elsewhere.' : 'It was changed locally and elsewhere.'
      write(waiting, { kind: 'conflict', mine: contested, theirs, code: 'conflict', message }, now)
    }
    const goesOn = verb === 'UPDATE' && Object.keys(mine).length > 0
    if (goesOn) queue.rewrite(seq, mine, version, theirs)
    else queue.remove(seq)
    // Later changes based on this one have not seen the server's row either: they are compared in turn.
    queue.unchain(table, row, base_version)
    if (goesOn) return needsDecision ? 'rejected' : 'again'
    return isAwaited ? 'returned' : needsDecision ? 'rejected' : 'done'
  }

  function refused(
    waiting: Waiting,
    { code = 'refused', message }: { code?: string; message: string },
    awaited: boolean,
    now: number,
  ): PushResult {
    const { seq, table, verb, row, values, before } = waiting
    queue.remove(seq)
    let mine: Row | undefined = values
    if (verb === 'INSERT') {
      // Later changes of the row belong to the rejected change.
      for (const later of queue.ofRow(table, row)) {
        queue.remove(later.seq)
        mine = later.verb === 'DELETE' ? undefined : { ...mine, ...later.values }
      }
    } else queue.unchain(table, row, waiting.base_version)
    if (code === 'gone') base.remove(table, row)
    if (awaited) return 'returned'
    if (!mine) return 'done'
    // The feed may already have removed the row; then this is its last known state.
    write({ ...waiting, before }, { kind: 'refused', mine, theirs: null, code, message }, now)
    return 'rejected'
  }

  return {
    /** Applies one result. Does nothing if another process has already applied it. */
    settle(waiting: Waiting, outcome: Outcome, awaited: Awaited, now: number): PushResult {
      if (!queue.has(waiting.seq, waiting.op_id)) return 'returned'
      const isAwaited = awaited.has(waiting.seq)
      if (outcome.ok) {
        applyOutcome({ base, queue, rejected }, waiting, outcome, isAwaited)
        return 'done'
      }
      if (outcome.status === 'conflict') return conflict(waiting, outcome.current as ServerRow, isAwaited, now)
      const message = outcome.code === 'gone' ? GONE : (outcome.error ?? 'The server refused it.')
      return refused(waiting, { message, ...(outcome.code ? { code: outcome.code } : {}) }, isAwaited, now)
    },
    refuse: (waiting: Waiting, why: { code: string; message: string }, awaited: Awaited, now: number): PushResult =>
      queue.has(waiting.seq, waiting.op_id) ? refused(waiting, why, awaited.has(waiting.seq), now) : 'returned',
  }
}
