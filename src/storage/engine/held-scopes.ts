import type { WriteScope } from './database.ts'

// A server that hangs inside a transaction holds rows of some accounts or rooms, for half a minute on Postgres.

/** How long a scope counts as held, ms, unless it is written before. */
const MEMORY_MS = 60_000

/** Not the keys: those of uploads differ each time. */
const nameOf = (scope: WriteScope): string =>
  scope === 'instance' ? scope : [scope.accounts, scope.rooms, scope.memberFeeds].join('/')

/** Remembers scopes whose rows somebody else held for longer than a unit waits. */
export function makeHeldScopes() {
  const until = new Map<string, number>()
  return {
    add(scope: WriteScope): void {
      const now = performance.now()
      for (const [name, end] of until) if (end <= now) until.delete(name)
      until.set(nameOf(scope), now + MEMORY_MS)
    },
    has: (scope: WriteScope): boolean => until.size > 0 && (until.get(nameOf(scope)) ?? 0) > performance.now(),
    delete: (scope: WriteScope): void => void (until.size > 0 && until.delete(nameOf(scope))),
  }
}

export type HeldScopes = ReturnType<typeof makeHeldScopes>
