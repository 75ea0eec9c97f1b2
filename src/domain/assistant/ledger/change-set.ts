import type { Clock } from '../../../base/clock.ts'
import { insertItem, insertSet } from '../../../storage/assistant/ledger.ts'
import type { Database, Writer } from '../../../storage/engine/database.ts'
import { targetOf, type Change, type ChangeSet, type Step } from './recorded-change.ts'

interface Deps {
  database: Database
  clock: Clock
}

/** A change set with a hook that runs in the transaction of a change and receives the id of the set. */
export interface OpenChangeSet extends ChangeSet {
  change(step: Step, beforeCommit?: (tx: Writer, set: number) => Promise<void>): Promise<Change[]>
}

/** Opens change sets; each is stored with its first change. */
export const makeChangeSets =
  ({ database, clock }: Deps) =>
  (user: number, about: { conversation: number | undefined; undoes?: number }): OpenChangeSet => {
    let set: number | undefined
    let last: Promise<unknown> = Promise.resolve()

    async function record(tx: Writer, changes: Change[], now: number): Promise<number> {
      const id = set ?? (await insertSet(tx, { user, conversation: about.conversation, undoes: about.undoes }, now))
      for (const change of changes) {
        const { kind } = change
        await insertItem(tx, { change_set_id: id, kind, target: targetOf(change), data: JSON.stringify(change) })
      }
      return id
    }

    const write: OpenChangeSet['change'] = async (step, beforeCommit) => {
      const { changes, id } = await database.write('instance', async (tx) => {
        const now = clock.now()
        const changes = await step(tx, now)
        const id = changes.length > 0 ? await record(tx, changes, now) : set
        if (id !== undefined) await beforeCommit?.(tx, id)
        return { changes, id }
      })
      set = id
      return changes
    }

    return {
      id: () => set,
      // Serialised: concurrent changes share the set that the first commit creates.
      change(step, beforeCommit) {
        const mine = last.then(() => write(step, beforeCommit))
        last = mine.catch(() => undefined)
        return mine
      },
    }
  }
