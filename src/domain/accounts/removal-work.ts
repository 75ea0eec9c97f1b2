import { attemptAll } from '../../base/attempts.ts'
import type { Clock } from '../../base/clock.ts'
import { makeSingleFlight } from '../../base/single-flight.ts'
import { deleteAccount } from '../../storage/accounts/accounts.ts'
import { departFromChat } from '../../storage/chat/departure.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import { removalOf, removalsBegun, removalSteps } from '../../storage/accounts/removals.ts'
import { countedRows } from '../../storage/engine/synchronised-tables.ts'
import { markAllForRemoval } from '../../storage/files/trash.ts'
import type { Heavy } from '../heavy.ts'
import { shapes } from '../sync/sync.ts'

/** Rows that one transaction of a removal deals with. */
const SLICE = 200

interface Parts {
  /** For work that was decided and goes on whoever began it. */
  unattended: Database
  clock: Clock
  slice: Heavy['patientSlice']
  /** Finishes the work on trees that an account began. */
  settleTrees: (user: number) => Promise<void>
  size?: number
}

const rows = shapes.map(countedRows)

/** Does `size` rows of what is left of an account; says when nothing is, and its row is gone. */
async function removeSome(tx: Writer, user: number, size: number, now: number): Promise<'more' | 'done'> {
  const removal = await removalOf(tx, user)
  if (!removal) return 'done'
  // Trees of the trash have their own slices.
  if (await markAllForRemoval(tx, user, now)) return 'more'
  let left = size
  const steps = [
    (limit: number) => departFromChat(tx, removal, limit, now),
    ...removalSteps(removal, rows).map((step) => (limit: number) => step(tx, removal, limit, now)),
  ]
  for (const step of steps) {
    for (let done = -1; done !== 0; left -= done) {
      if (left <= 0) return 'more'
      done = await step(left)
    }
  }
  await deleteAccount(tx, user)
  return 'done'
}

/**
 * Finishes removals of accounts that were decided, in slices, so that others can write in between. What a crash leaves
 * goes on from where it was: the row in `removals` goes last, with the account.
 */
export function makeRemovalWork({ unattended, clock, slice, settleTrees, size = SLICE }: Parts) {
  async function work(user: number): Promise<void> {
    do await settleTrees(user)
    while ((await slice(() => unattended.write((tx) => removeSome(tx, user, size, clock.now())))) === 'more')
  }

  const finish = makeSingleFlight(work).run

  return {
    /** Resolves when nothing is left of an account whose removal was decided. */
    finish,
    /** Finishes what everybody has begun: what a crash, or another process, left. */
    async finishAll(): Promise<void> {
      await attemptAll((await removalsBegun(unattended.read)).map((user) => () => finish(user)))
    },
  }
}

export type RemovalWork = ReturnType<typeof makeRemovalWork>
