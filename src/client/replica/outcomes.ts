import { iso } from '../../base/clock.ts'
import type { Row } from '../row-values.ts'
import type { Outcome } from '../rows.ts'
import type { Base } from './base.ts'
import type { RejectedChanges } from './rejected-changes.ts'
import { merge } from './merge.ts'
import type { Queue } from './queue.ts'
import type { RejectedChange, ServerRow, Waiting } from './records.ts'
import { filled } from './view.ts'

/** Whose results somebody waits for, by `seq`: they decide about these themselves. */
export type Awaited = ReadonlySet<number>

/** What became of one change: it is done, stands again in the queue, or needs a decision. */
export type Fate = 'done' | 'again' | 'rejected' | 'told'

interface Parts {
  base: Base
  queue: Queue
  rejected: RejectedChanges
}

const GONE = 'The row was deleted elsewhere.'

/** A change was carried out: the row is shown so until the feed brings it. */
function takeIn({ base, queue }: Parts, waiting: Waiting, outcome: Outcome, awaited: boolean): void {
  const { seq, table, verb, row, values, at } = waiting
  const { version } = outcome
  queue.remove(seq)
  if (verb === 'DELETE') base.remove(table, row)
  else if (verb === 'INSERT') {
    const id = outcome.id!
    const time = { created_at: iso(at), updated_at: iso(at) }
    // The feed brings it as the server has it; until then it is what was sent.
    if (!base.row(table, id))
      base.upsert(table, { id, version: version!, ...time, ...filled(table, values) } as ServerRow)
    // Nobody learned the old id of a row whose result is waited for.
    queue.born(table, row, id, !awaited)
    queue.unchain(table, id, version)
    return
  } else {
    const known = base.row(table, row)
    const next = known && typeof known['version'] === 'number' ? known['version'] + 1 : undefined
    if (known && typeof version === 'number' && next !== undefined && version >= next) {
      // Others may have changed further columns in between: the row stays open for the version that tells.
      base.upsert(table, { ...known, ...values, version: version === next ? version : known['version'] })
    }
  }
  queue.unchain(table, row, version)
}

/** Takes in what the server said of changes. Whoever calls has a transaction open. */
export function makeOutcomes({ base, queue, rejected }: Parts) {
  function write(
    waiting: Waiting,
    rejectedChange: Pick<RejectedChange, 'kind' | 'mine' | 'theirs' | 'code' | 'message'>,
    now: number,
  ): void {
    const { op_id, table, verb, row, before } = waiting
    rejected.add({ op_id, table, verb, row, before, at: now, ...rejectedChange })
  }

  /** The row was changed elsewhere: what nobody else touched is sent again, for the rest somebody has to decide. */
  function conflict(waiting: Waiting, theirs: ServerRow, awaited: boolean, now: number): Fate {
    const { seq, table, verb, row, values, before, strict, base_version } = waiting
    const version = theirs['version'] as number
    base.upsert(table, theirs)
    const isTold = awaited && strict
    if (awaited && !strict) {
      // Whoever waits for the result means the row as it is now.
      if (verb === 'DELETE') queue.rewrite(seq, {}, version, theirs)
      else queue.rewrite(seq, values, version, theirs)
      return 'again'
    }
    const { mine, contested } = strict ? { mine: {}, contested: values } : merge(values, before, theirs)
    const needsDecision = !isTold && (verb === 'DELETE' || Object.keys(contested).length > 0)
    if (needsDecision) {
      const message =
        verb === 'DELETE' ? 'It was deleted here and changed elsewhere.' : 'It was changed here and elsewhere.'
      write(waiting, { kind: 'conflict', mine: contested, theirs, code: 'conflict', message }, now)
    }
    const goesOn = verb === 'UPDATE' && Object.keys(mine).length > 0
    if (goesOn) queue.rewrite(seq, mine, version, theirs)
    else queue.remove(seq)
    // What was built on it has not seen theirs either: it meets the same conflict, and is compared in its turn.
    queue.unchain(table, row, base_version)
    if (goesOn) return needsDecision ? 'rejected' : 'again'
    return isTold ? 'told' : needsDecision ? 'rejected' : 'done'
  }

  function refused(
    waiting: Waiting,
    { code = 'refused', message }: { code?: string; message: string },
    awaited: boolean,
    now: number,
  ): Fate {
    const { seq, table, verb, row, values, before } = waiting
    queue.remove(seq)
    let mine: Row | undefined = values
    if (verb === 'INSERT') {
      // What was done to it since belongs to it.
      for (const later of queue.ofRow(table, row)) {
        queue.remove(later.seq)
        mine = later.verb === 'DELETE' ? undefined : { ...mine, ...later.values }
      }
    } else queue.unchain(table, row, waiting.base_version)
    if (code === 'gone') base.remove(table, row)
    if (awaited) return 'told'
    if (!mine) return 'done'
    // The feed may have removed the row already: then this is all there is of it.
    write({ ...waiting, before }, { kind: 'refused', mine, theirs: null, code, message }, now)
    return 'rejected'
  }

  return {
    /** Takes in one result. One that another process took in before changes nothing. */
    settle(waiting: Waiting, outcome: Outcome, awaited: Awaited, now: number): Fate {
      if (!queue.has(waiting.seq, waiting.op_id)) return 'told'
      const isAwaited = awaited.has(waiting.seq)
      if (outcome.ok) {
        takeIn({ base, queue, rejected }, waiting, outcome, isAwaited)
        return 'done'
      }
      if (outcome.status === 'conflict') return conflict(waiting, outcome.current as ServerRow, isAwaited, now)
      const message = outcome.code === 'gone' ? GONE : (outcome.error ?? 'The server refused it.')
      return refused(waiting, { message, ...(outcome.code ? { code: outcome.code } : {}) }, isAwaited, now)
    },
    refuse: (waiting: Waiting, why: { code: string; message: string }, awaited: Awaited, now: number): Fate =>
      queue.has(waiting.seq, waiting.op_id) ? refused(waiting, why, awaited.has(waiting.seq), now) : 'told',
  }
}
