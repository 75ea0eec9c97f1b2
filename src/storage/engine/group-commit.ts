import type { Database, Writer, WriteScope } from './database.ts'
import { collectNotifications, type BareWriter, type Notifications, type Notification } from './notifications.ts'
import { nextTurn } from './event-loop.ts'
import { makeHeldScopes, type HeldScopes } from './held-scopes.ts'

// Units of work that wait at the same moment share one transaction and its flush.

export interface Transaction {
  readonly writer: BareWriter
  /** Waits until nobody else writes within these scopes. Throws `Busy` after too long, `isBrief` after a moment. */
  begin(scopes: readonly WriteScope[], isBrief?: boolean): Promise<void>
  /** Whether it can still be committed: an engine may have rolled back by itself. */
  isOpen(): boolean
  /** Durable when it resolves. Throws if the engine rolled back instead. */
  commit(): Promise<void>
  /** May throw; a transaction that is still open is rolled back before the next one begins. */
  rollback(): Promise<void>
  /** Converts an engine's error to one of `base/errors.ts`. */
  fromEngineError(error: unknown): unknown
  /** Whether a unit failed with an error of `base/errors.ts` because of a concurrent one, and may succeed when it runs again. */
  isConflict?(error: unknown): boolean
  /** Whether an error of `base/errors.ts` says that somebody else holds what the scopes lock. */
  isHeld?(error: unknown): boolean
}

interface Unit {
  work: (tx: Writer) => Promise<unknown>
  scope: WriteScope
  /** How often it ran. */
  runs: number
  /** How many units of its account or room stand before it; set when its group is formed. */
  rank: number
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** Most units per commit: enough to share the cost of an fsync, few enough to keep the event loop responsive. */
const GROUP = 64

/** Longest time for the units of a commit, ms: the rest waits for the next one, behind the first units of others. */
const GROUP_MS = 50

/** Time after which the second units of an account wait for the next commit, ms, if somebody else waits for this one. */
const SHARED_MS = 15

/** Time after which others get the event loop between two units, ms. */
const TURN_MS = 10

/** Most runs of a unit that conflicts with concurrent ones. */
const RUNS = 5

/** Results of a group's units. */
interface Outcome {
  settle: (() => void)[]
  /** Whether there is anything to commit. */
  kept: boolean
}

/** The account or room of a unit; others have none in common. */
const ownerOf = (unit: Unit): unknown =>
  unit.scope === 'instance' ? unit : (unit.scope.accounts?.[0] ?? unit.scope.rooms?.[0] ?? unit)

/**
 * Moves the next group out of the queue: units in order, but the first of each account or room before all second ones. A
 * unit whose scope is held comes alone, so that others do not wait with it.
 */
function takeGroup(queue: Unit[], held: HeldScopes): Unit[] {
  const counts = new Map<unknown, number>()
  for (const unit of queue) {
    const owner = ownerOf(unit)
    unit.rank = counts.get(owner) ?? 0
    counts.set(owner, unit.rank + 1)
  }
  queue.sort((a, b) => a.rank - b.rank)
  const apart = queue.slice(0, GROUP).findIndex(({ scope }) => held.has(scope))
  return queue.splice(0, apart === -1 ? GROUP : Math.max(apart, 1))
}

/**
 * Runs the units of a group; a unit that throws is rolled back alone. Returns with `group` shortened when its time is over.
 * `queue` holds the units that arrive meanwhile.
 */
async function runGroup(
  { transaction, writer, queue }: { transaction: Transaction; writer: Writer; queue: readonly Unit[] },
  group: Unit[],
  reject: (unit: Unit, error: unknown) => void,
): Promise<Outcome> {
  const outcome: Outcome = { settle: [], kept: false }
  const isAlone = group.length === 1
  const owner = ownerOf(group[0]!)
  const isShared = () => [group, queue].some((units) => units.some((unit) => ownerOf(unit) !== owner))
  const began = performance.now()
  let turned = began
  for (const [index, unit] of group.entries()) {
    if (performance.now() - turned > TURN_MS) {
      await nextTurn()
      turned = performance.now()
    }
    const most = unit.rank > 0 && isShared() ? SHARED_MS : GROUP_MS
    if (index > 0 && performance.now() - began > most) {
      group.length = index
      break
    }
    try {
      // A single unit needs no savepoint: the whole transaction is rolled back.
      const value = await (isAlone ? unit.work(writer) : writer.attempt(() => unit.work(writer)))
      outcome.settle.push(() => unit.resolve(value))
      outcome.kept = true
    } catch (error) {
      // The whole transaction was rolled back, with the work of every unit.
      if (!transaction.isOpen()) throw error
      outcome.settle.push(() => reject(unit, error))
    }
  }
  return outcome
}

interface ApartParts {
  transaction: Transaction
  held: HeldScopes
  tryGroup(group: Unit[], isBrief: boolean): Promise<{ reason: unknown } | undefined>
  refuse(group: readonly Unit[], reason: unknown): Promise<void>
}

/** Commits the units of a group that waited in vain one by one, and refuses those whose own scope is held. */
async function commitApart({ transaction, held, tryGroup, refuse }: ApartParts, group: Unit[], reason: unknown) {
  try {
    await transaction.begin([{}], true)
    await transaction.rollback()
  } catch {
    // A unit for the instance keeps out all of them.
    return refuse(group, reason)
  }
  for (const unit of group) {
    const failed = held.has(unit.scope) ? { reason } : await tryGroup([unit], true)
    if (failed && transaction.isHeld?.(failed.reason)) held.add(unit.scope)
    if (failed) await refuse([unit], failed.reason)
  }
}

/** `Database.write` with one transaction: units queue up, and those waiting together are committed together. */
export function makeGroups(transaction: Transaction, publish: Notifications['publish']) {
  const queue: Unit[] = []
  const units = { begun: 0, ended: 0 }
  const held = makeHeldScopes()
  let running: Promise<void> | undefined

  /** Waits while more units arrive with every turn of the event loop, so that concurrent requests share a commit. */
  async function moreUnits(): Promise<void> {
    let before: number
    do {
      before = queue.length
      await nextTurn()
    } while (queue.length > before && queue.length < GROUP)
  }

  /** Rolls back an open transaction. On failure it remains open; the next group tries again. */
  async function clear(): Promise<void> {
    if (transaction.isOpen()) await transaction.rollback()
  }

  function add(unit: Unit): void {
    units.begun += 1
    queue.push(unit)
    running ??= drain()
  }

  function reject(unit: Unit, error: unknown): void {
    const mayRunAgain = unit.scope !== 'instance' && unit.runs < RUNS && transaction.isConflict?.(error)
    if (mayRunAgain) add({ ...unit, runs: unit.runs + 1 })
    else unit.reject(error)
  }

  /** Runs and commits a group. Returns the notifications for this process. Throws if nothing was committed. */
  async function commitGroup(group: Unit[], isBrief: boolean): Promise<readonly Notification[]> {
    const { writer, collected } = collectNotifications(transaction.writer)
    await clear()
    await transaction.begin(
      group.map(({ scope }) => scope),
      isBrief,
    )
    for (const { scope } of group) held.delete(scope)
    const { settle, kept } = await runGroup({ transaction, writer, queue }, group, reject)
    await (kept ? transaction.commit() : transaction.rollback())
    for (const end of settle) end()
    return kept ? collected() : []
  }

  /** Commits a group. Returns the reason if nothing was. */
  async function tryGroup(group: Unit[], isBrief: boolean): Promise<{ reason: unknown } | undefined> {
    try {
      publish(await commitGroup(group, isBrief))
      return undefined
    } catch (error) {
      return { reason: transaction.fromEngineError(error) }
    }
  }

  async function refuse(group: readonly Unit[], reason: unknown): Promise<void> {
    for (const unit of group) reject(unit, reason)
    await clear().catch(() => undefined)
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      await moreUnits()
      const taken = takeGroup(queue, held)
      const group = [...taken]
      const isKnown = held.has(group[0]!.scope)
      const failed = await tryGroup(group, isKnown)
      const isApart = failed && !isKnown && group[0]!.scope !== 'instance' && transaction.isHeld?.(failed.reason)
      if (isApart) await commitApart({ transaction, held, tryGroup, refuse }, group, failed.reason)
      else if (failed) await refuse(group, failed.reason)
      queue.unshift(...taken.slice(group.length))
      units.ended += group.length
    }
    running = undefined
  }

  const write: Database['write'] = <T>(scope: WriteScope, work: (tx: Writer) => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      add({ work, scope, runs: 1, rank: 0, resolve: resolve as (value: unknown) => void, reject })
    })

  return {
    write,
    units: () => ({ ...units }),
    idle: async (): Promise<void> => running,
  }
}
