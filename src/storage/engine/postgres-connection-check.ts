import type pg from 'pg'
import { DatabaseMoved } from '../../base/errors.ts'
import type { Database, Writer } from './database.ts'
import type { PostgresHosts } from './postgres-hosts.ts'

// What every new connection to Postgres has to pass: the server takes writes, and the rows have not moved elsewhere.

/** The key in `instance` that says where the rows were moved to. */
export const MOVED = 'moved'

/** Marks the rows as moved to `place`: no connection made after the commit uses them. */
export async function markMoved(tx: Writer, place: string): Promise<void> {
  await tx.q
    .insertInto('instance')
    .values({ key: MOVED, value: place })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: place }))
    .execute()
}

/** Begins the keys in `instance` that name migrations which versions without them cannot work with. */
export const REQUIRES = 'requires:'

const hasSchema = async (client: pg.ClientBase): Promise<boolean> => {
  const { rows } = await client.query<{ known: boolean }>("select to_regclass('instance') is not null as known")
  return rows[0]!.known
}

/** A migration that this version would have to know. */
async function unknownRequirement(client: pg.ClientBase, known: readonly string[]): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>(
    'select substr(key, $1) as name from instance where key like $2 order by key',
    [REQUIRES.length + 1, `${REQUIRES}%`],
  )
  return rows.map(({ name }) => name).find((name) => !known.includes(name))
}

/** Where the rows were moved to; undefined if they were not. */
export async function movedTo(client: pg.ClientBase): Promise<string | undefined> {
  if (!(await hasSchema(client))) return undefined
  const { rows } = await client.query<{ value: string }>('select value from instance where key = $1', [MOVED])
  return rows[0]?.value
}

const rowsAreIn = (place: string): DatabaseMoved =>
  new DatabaseMoved(
    `The rows of this database were moved to ${place}: use svc there, without SVC_DATABASE. If the move was interrupted, repeat it there: svc storage migrate --to sqlite:.`,
  )

const tooOldFor = (migration: string): DatabaseMoved =>
  new DatabaseMoved(
    `A newer version of svc removed from the database what this version needs (${migration}): update svc on this machine, or restore a backup made before the update.`,
  )

export interface ConnectionCheck {
  /** Throws `Busy` for a standby, `DatabaseMoved` for rows that were moved away, or a schema that needs a newer version. */
  assertUsable(client: pg.ClientBase): Promise<void>
  onMoved: Database['onMoved']
}

/** With `hasLeft`, rows that were moved away pass too. `migrations` are the names of those that this version knows. */
export function makeConnectionCheck(
  hosts: PostgresHosts,
  { hasLeft, migrations }: { hasLeft: boolean; migrations: readonly string[] },
): ConnectionCheck {
  const listeners: Parameters<Database['onMoved']>[0][] = []
  let told: string | undefined
  const reasonAgainst = async (client: pg.ClientBase): Promise<DatabaseMoved | undefined> => {
    if (!(await hasSchema(client))) return undefined
    const place = hasLeft ? undefined : await movedTo(client)
    if (place !== undefined) return rowsAreIn(place)
    const requirement = await unknownRequirement(client, migrations)
    return requirement === undefined ? undefined : tooOldFor(requirement)
  }
  return {
    onMoved: (listener) => void listeners.push(listener),
    async assertUsable(client) {
      await hosts.assertPrimary(client)
      const reason = await reasonAgainst(client)
      if (reason?.message !== told) for (const listener of listeners) listener(reason)
      told = reason?.message
      if (reason) throw reason
    },
  }
}
