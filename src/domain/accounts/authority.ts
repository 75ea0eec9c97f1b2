import { AsyncLocalStorage } from 'node:async_hooks'
import type { Database, Reader } from '../../storage/engine/database.ts'

/** Asked inside a transaction: throws when whoever caused it may not act any more. */
export type Authority = (tx: Reader) => Promise<void>

// Bound to the flow of a request, not passed along: no function between the request and its transaction can forget it.
const current = new AsyncLocalStorage<Authority>()

/** Runs `work`; every transaction that it causes asks `authority` before anything else. */
export const withAuthority = <T>(authority: Authority, work: () => T): T => current.run(authority, work)

/** The database, with writes that hold only while whoever caused them may act. */
export const authorized = (database: Database): Database => ({
  ...database,
  write(unit) {
    // Taken now: the transaction runs in the flow of whoever happens to commit.
    const authority = current.getStore()
    if (!authority) return database.write(unit)
    return database.write(async (tx) => {
      await authority(tx)
      return unit(tx)
    })
  },
})
