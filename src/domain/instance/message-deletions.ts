import { forgetDeletions } from '../../storage/chat/messages.ts'
import { accountsToEnd } from '../../storage/chat/ended-memberships.ts'
import { accountsBehind, ACCOUNTS, takeOver } from '../../storage/chat/pending-changes.ts'
import type { Database } from '../../storage/engine/database.ts'
import { inSlices } from '../../storage/engine/slices.ts'

/** Forgets deletions of messages from before a time, when the feeds of all members have them. Returns their number. */
export async function forgetMessageDeletions(database: Database, before: number, now: number): Promise<number> {
  for (;;) {
    const behind = await accountsBehind(database.read, before, ACCOUNTS)
    const accounts = behind.length > 0 ? behind : await accountsToEnd(database.read, ACCOUNTS)
    if (accounts.length === 0) break
    await database.write({ accounts }, (tx) => takeOver(tx, accounts, now))
  }
  return inSlices(database, (tx, limit) => forgetDeletions(tx, before, limit))
}
