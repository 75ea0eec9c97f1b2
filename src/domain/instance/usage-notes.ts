import { accountsAfter, forgetUsage, noteUsage } from '../../storage/accounts/usage.ts'
import type { Database } from '../../storage/engine/database.ts'
import { SLICE } from '../../storage/engine/slices.ts'
import { findFact, putFact } from '../../storage/instance/settings.ts'

/** The day on which the usage of all accounts was noted last. */
const FACT = 'usage_noted'
/** Retention of notes, in days. */
const MEMORY = 400

/** Notes the usage of all accounts at the end of the day before, on one server once a day. Starts over after a failure. */
export async function noteUsageOf(database: Database, today: number): Promise<void> {
  if ((await findFact(database.read, FACT)) === String(today)) return
  const day = today - 1
  for (let after = 0; ;) {
    const accounts = await accountsAfter(database.read, after, SLICE)
    if (accounts.length === 0) break
    await database.write({ accounts }, async (tx) => {
      await noteUsage(tx, accounts, day)
      await forgetUsage(tx, accounts, day - MEMORY)
    })
    after = accounts.at(-1)!
  }
  await database.write({ keys: [FACT] }, (tx) => putFact(tx, FACT, String(today)))
}
