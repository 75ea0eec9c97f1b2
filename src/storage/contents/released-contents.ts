import { sql, type RawBuilder } from 'kysely'
import { first, prepared, type Database, type Reader, type SchemaDialect, type Writer } from '../engine/database.ts'
import { nextTurn } from '../engine/event-loop.ts'

// Contents of deleted files and versions, by the account they counted for. Other rows may still or again reference
// them: check before removing.

/** Tables whose deleted rows release contents. There are no others. */
const holders = ['nodes', 'versions'] as const

/** The table, and the triggers that fill it, which fire for every statement and cascade. */
export const releasingSchema = ({
  id,
  integer,
  text,
  strict,
  clustered,
  trigger,
}: SchemaDialect): RawBuilder<unknown>[] => [
  sql`create table released_contents (
    user_id ${integer} not null,
    sha256 ${text} not null,
    size ${integer} not null,
    primary key (user_id, sha256)
  ) ${clustered}`,
  // A removal gets a row at its start and a new one at its end: IDs give the order without a clock.
  sql`create table content_removals (
    id ${id},
    sha256 ${text} not null,
    is_over ${integer} not null,
    at ${integer} not null
  ) ${strict}`,
  sql`create index content_removals_of on content_removals (sha256, id)`,
  ...holders.flatMap((table) =>
    trigger(
      { name: `release_${table}`, when: `after delete on ${table}` },
      sql`insert into released_contents (user_id, sha256, size) select old.user_id, old.sha256, old.size
        where old.sha256 is not null on conflict (user_id, sha256) do nothing`,
    ),
  ),
]

const releasedQuery = prepared<{ user: number }, { bytes: number | null; entries: number }>(({ q, p }) =>
  q
    .selectFrom('released_contents')
    .select(({ fn }) => [fn.countAll<number>().as('entries'), fn.sum<number | null>('size').as('bytes')])
    .where('user_id', '=', p.user),
)

/** Released contents of an account that were not checked yet. */
export async function releasedBy(on: Reader, user: number): Promise<{ bytes: number; entries: number }> {
  const { bytes, entries } = (await first(releasedQuery(on, { user })))!
  return { bytes: Number(bytes), entries: Number(entries) }
}

/** Hashes of at most `limit` of them, by hash. */
export async function someReleasedBy(on: Reader, user: number, limit: number): Promise<string[]> {
  const rows = await on.q
    .selectFrom('released_contents')
    .select('sha256')
    .where('user_id', '=', user)
    .orderBy('sha256')
    .limit(limit)
    .execute()
  return rows.map(({ sha256 }) => sha256)
}

/** Records a content received for an account that nothing references. */
export const release = (tx: Writer, user: number, { sha256, size }: { sha256: string; size: number }) =>
  tx.q
    .insertInto('released_contents')
    .values({ user_id: user, sha256, size })
    .onConflict((conflict) => conflict.columns(['user_id', 'sha256']).doNothing())
    .execute()

export const forgetReleased = (tx: Writer, user: number, sha256s: readonly string[]) =>
  tx.q.deleteFrom('released_contents').where('user_id', '=', user).where('sha256', 'in', sha256s).execute()

/** Records examined by one statement, before others have their turn. */
const WINDOW = 1_000

interface Released {
  user_id: number
  sha256: string
  is_gone: number
}

/** Deletes the records of removed contents. Returns their number. */
export async function forgetGone(database: Database): Promise<number> {
  let forgotten = 0
  for (let last: Released | undefined = { user_id: -1, sha256: '', is_gone: 0 }; last; await nextTurn()) {
    const { user_id, sha256 }: Released = last
    const { rows } = await sql<Released>`select user_id, sha256,
      case when exists (select 1 from contents c where c.sha256 = r.sha256) then 0 else 1 end as is_gone
      from released_contents r where (user_id, sha256) > (${user_id}, ${sha256})
      order by user_id, sha256 limit ${WINDOW}`.execute(database.read.q)
    const gone = rows.filter(({ is_gone }) => is_gone === 1)
    if (gone.length > 0) forgotten += await database.write('instance', (tx) => forgetEach(tx, gone))
    last = rows.at(-1)
  }
  return forgotten
}

/** A content may have come back meanwhile. */
async function forgetEach(tx: Writer, gone: readonly Released[]): Promise<number> {
  let forgotten = 0
  for (const user of new Set(gone.map(({ user_id }) => user_id))) {
    const own = gone.filter(({ user_id }) => user_id === user).map(({ sha256 }) => sha256)
    const deleted = await tx.q
      .deleteFrom('released_contents')
      .where('user_id', '=', user)
      .where('sha256', 'in', own)
      .where(sql<boolean>`not exists (select 1 from contents c where c.sha256 = released_contents.sha256)`)
      .returning('sha256')
      .execute()
    forgotten += deleted.length
  }
  return forgotten
}
