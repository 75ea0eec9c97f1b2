import type { Database, OwnerScope } from './database.ts'
import { makeGroups, type Transaction } from './group-commit.ts'
import type { Notifications } from './notifications.ts'

/** What units with this scope have in common with most others that they would wait for. */
const keyOf = ({ rooms = [], accounts = [] }: OwnerScope): number => rooms[0] ?? accounts[0] ?? 0

/**
 * `Database.write` with several transactions that run at the same time. Units for the instance share the first; those of
 * one account, or of one room, share one of the others, and so a commit.
 */
export function makeLanes(alone: Transaction, scoped: readonly Transaction[], publish: Notifications['publish']) {
  const whole = makeGroups(alone, publish)
  const lanes = scoped.map((transaction) => makeGroups(transaction, publish))
  const write: Database['write'] = (scope, unit) =>
    (scope === 'instance' ? whole : lanes[keyOf(scope) % lanes.length]!).write(scope, unit)
  return {
    write,
    idle: async (): Promise<void> => void (await Promise.all([whole, ...lanes].map((lane) => lane.idle()))),
  }
}
