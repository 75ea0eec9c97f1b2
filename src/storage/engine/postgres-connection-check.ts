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

/** Where the rows were moved to; undefined if they were not. */
export async function movedTo(client: pg.ClientBase): Promise<string | undefined> {
  const { rows: tables } = await client.query<{ known: boolean }>("select to_regclass('instance') is not null as known")
  if (!tables[0]!.known) return undefined
  const { rows } = await client.query<{ value: string }>('select value from instance where key = $1', [MOVED])
  return rows[0]?.value
}

const rowsAreIn = (place: string): DatabaseMoved =>
  new DatabaseMoved(
    `The rows of this database were moved to ${place}: use svc there, without SVC_DATABASE. If the move was interrupted, repeat it there: svc storage migrate --to sqlite:.`,
  )

export interface ConnectionCheck {
  /** Throws `Busy` for a standby and `DatabaseMoved` for rows that were moved away. */
  assertUsable(client: pg.ClientBase): Promise<void>
  onMoved: Database['onMoved']
}

/** With `hasLeft`, rows that were moved away pass too. */
export function makeConnectionCheck(hosts: PostgresHosts, hasLeft: boolean): ConnectionCheck {
  const listeners: Parameters<Database['onMoved']>[0][] = []
  let known: string | undefined
  return {
    onMoved: (listener) => void listeners.push(listener),
    async assertUsable(client) {
      await hosts.assertPrimary(client)
      const place = hasLeft ? undefined : await movedTo(client)
      const moved = place === undefined ? undefined : rowsAreIn(place)
      if (place !== known) for (const listener of listeners) listener(moved)
      known = place
      if (moved) throw moved
    },
  }
}
