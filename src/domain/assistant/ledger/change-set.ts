import type { Clock } from '../../../base/clock.ts'
import { insertItem, insertSet } from '../../../storage/assistant/ledger.ts'
import type { Database, Writer } from '../../../storage/engine/database.ts'
import { targetOf, type Change, type ChangeSet, type Step } from './change.ts'

interface Parts {
  database: Database
  clock: Clock
}

/** A change set that more can be written with, in the transaction of a change: `done` is told its number. */
export interface OpenSet extends ChangeSet {
  change(step: Step, done?: (tx: Writer, set: number) => Promise<void>): Promise<Change[]>
}

/** Opens change sets; one is stored with its first change. */
export const makeChangeSets =
  ({ database, clock }: Parts) =>
  (user: number, about: { conversation: number | undefined; undoes?: number }): OpenSet => {
    let set: number | undefined
    let turn: Promise<unknown> = Promise.resolve()

    async function note(tx: Writer, changes: Change[], now: number): Promise<number> {
      const id = set ?? (await insertSet(tx, { user, conversation: about.conversation, undoes: about.undoes }, now))
      for (const change of changes) {
        const { kind } = change
        await insertItem(tx, { change_set_id: id, kind, target: targetOf(change), data: JSON.stringify(change) })
      }
      return id
    }

    const perform: OpenSet['change'] = async (step, done) => {
      const { changes, id } = await database.write(async (tx) => {
        const now = clock.now()
        const changes = await step(tx, now)
        const id = changes.length > 0 ? await note(tx, changes, now) : set
        if (id !== undefined) await done?.(tx, id)
        return { changes, id }
      })
      set = id
      return changes
    }

    return {
      id: () => set,
      // One after the other: the set of changes made side by side is there only once the first of them is committed.
      change(step, done) {
        const mine = turn.then(() => perform(step, done))
        turn = mine.catch(() => undefined)
        return mine
      },
    }
  }
