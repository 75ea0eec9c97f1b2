import { AsyncLocalStorage } from 'node:async_hooks'
import type { Database, Reader } from '../../storage/engine/database.ts'

/** Runs inside a transaction; throws if the caller of the request may no longer act. */
export type Authority = (tx: Reader) => Promise<void>

// Bound to the asynchronous context of a request: no function between the request and its transaction can omit it.
const current = new AsyncLocalStorage<Authority>()

/** Runs `work`; each of its transactions checks `authority` first. */
export const withAuthority = <T>(authority: Authority, work: () => T): T => current.run(authority, work)

/** The database with writes that check the current authority. */
export const authorized = (database: Database): Database => ({
  ...database,
  write(scope, unit) {
    // Read now: group commit runs the transaction in another request's context.
    const authority = current.getStore()
    if (!authority) return database.write(scope, unit)
    return database.write(scope, async (tx) => {
      await authority(tx)
      return unit(tx)
    })
  },
})
