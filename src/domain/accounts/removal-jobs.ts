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

/** Rows that one transaction deletes. */
const SLICE = 200

interface Parts {
  /** The database without the caller's authority check. */
  unattended: Database
  clock: Clock
  slice: Heavy['patientSlice']
  /** Finishes the account's jobs on file trees. */
  settleTrees: (user: number) => Promise<void>
  size?: number
}

const rows = shapes.map(countedRows)

/** Removes up to `size` rows of an account; 'done' once its own row is gone. */
async function removeSome(tx: Writer, user: number, size: number, now: number): Promise<'more' | 'done'> {
  const removal = await removalOf(tx, user)
  if (!removal) return 'done'
  // The trash is removed in slices of its own.
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

/** Finishes removals in slices. After a crash they resume: the row in `removals` is deleted last, with the account. */
export function makeRemovalJobs({ unattended, clock, slice, settleTrees, size = SLICE }: Parts) {
  async function finishRemoval(user: number): Promise<void> {
    do await settleTrees(user)
    while (
      (await slice(() => unattended.write('instance', (tx) => removeSome(tx, user, size, clock.now())))) === 'more'
    )
  }

  const finish = makeSingleFlight(finishRemoval).run

  return {
    /** Resolves when nothing of the account is left. */
    finish,
    /** Finishes all removals that a crash or another process left behind. */
    async finishAll(): Promise<void> {
      await attemptAll((await removalsBegun(unattended.read)).map((user) => () => finish(user)))
    },
  }
}

export type RemovalJobs = ReturnType<typeof makeRemovalJobs>
