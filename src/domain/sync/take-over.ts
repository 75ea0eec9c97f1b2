import { Busy, DiskFull } from '../../base/errors.ts'
import type { Clock } from '../../base/clock.ts'
import { ACCOUNTS, takeOver } from '../../storage/chat/pending-changes.ts'
import type { Database } from '../../storage/engine/database.ts'

interface Parts {
  database: Database
  clock: Clock
}

/**
 * Enters what happened in large rooms in the feed of an account, with those of others that ask at the same moment. Resolves to
 * false if nothing can be written now: the feed is then read as it is.
 */
export function makeTakeOver({ database, clock }: Parts): (user: number) => Promise<boolean> {
  let waiting = new Map<number, (result: Promise<boolean>) => void>()
  /** Accounts whose changes are to be taken over, and the results. */
  const results = new Map<number, Promise<boolean>>()

  async function takeAll(accounts: number[]): Promise<boolean> {
    try {
      while (await database.write({ accounts }, (tx) => takeOver(tx, accounts, clock.now())));
      return true
    } catch (error) {
      if (error instanceof Busy || error instanceof DiskFull) return false
      throw error
    }
  }

  function begin(): void {
    const begun = [...waiting]
    waiting = new Map()
    for (let first = 0; first < begun.length; first += ACCOUNTS) {
      const some = begun.slice(first, first + ACCOUNTS)
      const result = takeAll(some.map(([user]) => user))
      for (const [user, resolve] of some) {
        results.delete(user)
        resolve(result)
      }
    }
  }

  return (user) => {
    const known = results.get(user)
    if (known) return known
    const result = new Promise<boolean>((resolve) => {
      if (waiting.size === 0) setImmediate(begin)
      waiting.set(user, resolve)
    })
    results.set(user, result)
    return result
  }
}
