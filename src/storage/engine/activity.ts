import type { DatabaseActivity } from './database.ts'
import type { Transaction } from './group-commit.ts'

export const noActivity = (): DatabaseActivity => ({ commits: 0, commitSeconds: 0, beginSeconds: 0, failures: 0 })

/** The same transactions, counted. */
export function countTransactions(transaction: Transaction, activity: DatabaseActivity): Transaction {
  async function timed(work: Promise<void>, name: 'commitSeconds' | 'beginSeconds'): Promise<void> {
    const began = performance.now()
    try {
      await work
    } catch (error) {
      activity.failures += 1
      throw error
    } finally {
      activity[name] += (performance.now() - began) / 1_000
    }
  }
  return {
    ...transaction,
    begin: (scopes, isBrief) => timed(transaction.begin(scopes, isBrief), 'beginSeconds'),
    async commit() {
      await timed(transaction.commit(), 'commitSeconds')
      activity.commits += 1
    },
  }
}
