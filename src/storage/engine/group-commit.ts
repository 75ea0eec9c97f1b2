import type { Database, Writer } from './database.ts'
import { collectNotifications, type BareWriter, type Notifications, type Notification } from './notifications.ts'

// Units of work that wait at the same moment share one transaction, and its one flush.

/** The one transaction at a time of this process, whatever the engine. */
export interface Transaction {
  readonly writer: BareWriter
  /** Begins it, once nobody else writes. Throws `Busy` when that takes too long. */
  begin(): Promise<void>
  /** Whether what was begun can still be committed: an engine may have undone it by itself. */
  isOpen(): boolean
  /**
   * Ends it; durable when it resolves. Throws when the engine rolled back instead. Other processes are notified,
   * where the engine can.
   */
  commit(notifications: readonly Notification[]): Promise<void>
  /** May throw; a transaction that is still open afterwards is rolled back before the next one begins. */
  rollback(): Promise<void>
  /** Turns an error of the engine into one of the floors above. */
  fromEngineError(error: unknown): unknown
}

interface Unit {
  work: (tx: Writer) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** Units that share one commit: enough to divide the cost of an fsync, few enough to keep the event loop turning. */
const GROUP = 64

/** What the units of a group came to. */
interface Outcome {
  settle: (() => void)[]
  /** Whether there is anything to commit. */
  kept: boolean
}

/** Runs the units of one group; a unit that throws is undone alone. */
async function runGroup(transaction: Transaction, writer: Writer, group: Unit[]): Promise<Outcome> {
  const outcome: Outcome = { settle: [], kept: false }
  for (const unit of group) {
    try {
      // Where nobody shares the transaction, undoing the unit is undoing all.
      const value = await (group.length === 1 ? unit.work(writer) : writer.attempt(() => unit.work(writer)))
      outcome.settle.push(() => unit.resolve(value))
      outcome.kept = true
    } catch (error) {
      // With the whole transaction undone, nobody's work is left to keep.
      if (!transaction.isOpen()) throw error
      outcome.settle.push(() => unit.reject(error))
    }
  }
  return outcome
}

/** `Database.write` of this process: units queue up, and those waiting together are committed together. */
export function makeGroups(transaction: Transaction, { publish }: Pick<Notifications, 'publish'>) {
  const queue: Unit[] = []
  const units = { begun: 0, ended: 0 }
  let running: Promise<void> | undefined

  /** Waits while further units arrive with every turn of the event loop: requests that came together share a commit. */
  async function gathered(): Promise<void> {
    let before: number
    do {
      before = queue.length
      await new Promise((resolve) => setImmediate(resolve))
    } while (queue.length > before && queue.length < GROUP)
  }

  /** Rolls back what is left open. A failure leaves it open; the next group tries again before it begins. */
  async function clear(): Promise<void> {
    if (transaction.isOpen()) await transaction.rollback()
  }

  /** Runs a group to its commit. Returns what to tell this process. Throws when nothing of it was kept. */
  async function commitGroup(group: Unit[]): Promise<readonly Notification[]> {
    const { writer, collected } = collectNotifications(transaction.writer)
    await clear()
    await transaction.begin()
    const { settle, kept } = await runGroup(transaction, writer, group)
    const notifications = kept ? collected() : []
    await (kept ? transaction.commit(notifications) : transaction.rollback())
    for (const end of settle) end()
    return notifications
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      await gathered()
      const group = queue.splice(0, GROUP)
      try {
        publish(await commitGroup(group))
      } catch (error) {
        const reason = transaction.fromEngineError(error)
        for (const unit of group) unit.reject(reason)
        await clear().catch(() => undefined)
      }
      units.ended += group.length
    }
    running = undefined
  }

  const write: Database['write'] = <T>(work: (tx: Writer) => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      units.begun += 1
      queue.push({ work, resolve: resolve as (value: unknown) => void, reject })
      running ??= drain()
    })

  return {
    write,
    /** How many there were. */
    units: () => ({ ...units }),
    idle: async (): Promise<void> => running,
  }
}
