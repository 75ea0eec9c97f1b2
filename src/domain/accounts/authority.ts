import { AsyncLocalStorage } from 'node:async_hooks'
import type { Database, Reader } from '../../storage/engine/database.ts'

/** Runs inside a transaction; throws if the caller of the request may no longer act. */
export type Authority = (tx: Reader) => Promise<void>

// Bound to the asynchronous context of a request: no function between the request and its transaction can omit it.
const current = new AsyncLocalStorage<{ user: number; authority: Authority }>()

/** Runs `work` for an account; each of its transactions checks `authority` first. */
export const withAuthority = <T>(user: number, authority: Authority, work: () => T): T =>
  current.run({ user, authority }, work)

export const authorized = (database: Database): Database => ({
  ...database,
  write(scope, unit) {
    // Read now: group commit runs the transaction in another request's context.
    const caller = current.getStore()
    if (!caller) return database.write(scope, unit)
    // Lock the caller's account too: after a revocation was acknowledged, nothing of the caller is committed.
    const own = scope === 'instance' ? scope : { ...scope, accounts: [...(scope.accounts ?? []), caller.user] }
    return database.write(own, async (tx) => {
      await caller.authority(tx)
      return unit(tx)
    })
  },
})
