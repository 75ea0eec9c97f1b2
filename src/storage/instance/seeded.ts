import { sql } from 'kysely'
import { prepared, preparedRows, type Reader, type Writer } from '../engine/database.ts'
import type { SeededRow } from '../engine/seeded-row.ts'

export type Seeded = Omit<SeededRow, 'user_id'>

const ofUserQuery = prepared<{ user: number }, Seeded>(({ q, p }) =>
  q.selectFrom('seeded').select(['kind', 'key', 'hash', 'target', 'version']).where('user_id', '=', p.user),
)

/** Everything that a seed created for an account. */
export const seededOf = (on: Reader, user: number): Promise<Seeded[]> => ofUserQuery(on, { user })

const rememberQuery = preparedRows<SeededRow & Record<string, unknown>, never>(({ q, rows }) =>
  q
    .insertInto('seeded')
    .values(
      rows.map((p) => ({
        user_id: p.user_id,
        kind: p.kind,
        key: p.key,
        hash: p.hash,
        target: p.target,
        version: p.version,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'kind', 'key']).doUpdateSet({
        hash: sql`excluded.hash`,
        target: sql`excluded.target`,
        version: sql`excluded.version`,
      }),
    ),
)

/** Records what a seed created or changed for an account, replacing earlier records. */
export async function rememberSeeded(tx: Writer, user: number, entries: readonly Seeded[]): Promise<void> {
  await rememberQuery(
    tx,
    entries.map((entry) => ({ user_id: user, ...entry })),
  )
}

/** Which of these keys of one kind are recorded for an account. */
export async function seededAmong(
  on: Reader,
  user: number,
  kind: string,
  keys: readonly string[],
): Promise<Set<string>> {
  const rows = await on.q
    .selectFrom('seeded')
    .select('key')
    .where('user_id', '=', user)
    .where('kind', '=', kind)
    .where('key', 'in', keys)
    .execute()
  return new Set(rows.map(({ key }) => key))
}
