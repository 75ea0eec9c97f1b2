import { sql } from 'kysely'
import { prepared, type Reader, type Writer } from '../engine/database.ts'
import { deleteOldest } from '../engine/slices.ts'
import type { AuditRow } from '../engine/tables.ts'

export type AuditEntry = Omit<AuditRow, 'id'>
export type StoredAuditEntry = AuditEntry & { id: number }

export interface AuditFilter {
  kinds?: readonly string[]
  /** User name of the actor or the target. */
  user?: string
  /** User name of the target. */
  target?: string
  /** Inclusive, epoch ms. */
  since?: number
  /** Exclusive, epoch ms. */
  until?: number
  /** Only entries after this one in the order of the list. */
  after?: { at: number; id: number }
  limit: number
}

const insertQuery = prepared<AuditEntry, unknown>(({ q, p }) =>
  q.insertInto('audit').values({
    at: p.at,
    kind: p.kind,
    actor_id: p.actor_id,
    actor: p.actor,
    target: p.target,
    ip: p.ip,
    user_agent: p.user_agent,
    detail: p.detail,
  }),
)

export const insertAuditEntry = (tx: Writer, entry: AuditEntry) => insertQuery(tx, entry)

const NEWEST_FIRST = (a: StoredAuditEntry, b: StoredAuditEntry): number => b.at - a.at || b.id - a.id

export async function auditEntries(on: Reader, filter: AuditFilter): Promise<StoredAuditEntry[]> {
  // One query per kind and side, so that an index returns entries in order however long the log is.
  const kinds = filter.kinds ?? [undefined]
  const sides = filter.user === undefined ? [undefined] : (['actor', 'target'] as const)
  const answers = await Promise.all(kinds.flatMap((kind) => sides.map((side) => newest(on, filter, kind, side))))
  const entries = new Map(answers.flat().map((entry) => [entry.id, entry]))
  return [...entries.values()].sort(NEWEST_FIRST).slice(0, filter.limit)
}

const newest = (
  on: Reader,
  { user, target, since, until, after, limit }: AuditFilter,
  kind: string | undefined,
  side: 'actor' | 'target' | undefined,
): Promise<StoredAuditEntry[]> =>
  on.q
    .selectFrom('audit')
    .selectAll()
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind!))
    .$if(side !== undefined, (query) => query.where(side!, '=', user!))
    .$if(target !== undefined, (query) => query.where('target', '=', target!))
    .$if(since !== undefined, (query) => query.where('at', '>=', since!))
    .$if(until !== undefined, (query) => query.where('at', '<', until!))
    .$if(after !== undefined, (query) =>
      query.where('at', '<=', after!.at).where((eb) => eb.or([eb('at', '<', after!.at), eb('id', '<', after!.id)])),
    )
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

/** The next entries after this ID, unfiltered, oldest first. */
export const auditEntriesAfter = (on: Reader, id: number, limit: number): Promise<StoredAuditEntry[]> =>
  on.q.selectFrom('audit').selectAll().where('id', '>', id).orderBy('id').limit(limit).execute()

/** The ID of the newest entry; 0 if there is none. */
export async function newestAuditId(on: Reader): Promise<number> {
  const row = await on.q.selectFrom('audit').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  return row?.id ?? 0
}

export const forgetAudit = deleteOldest({ table: 'audit', age: 'at', key: ['id'] })

/** Actors with more than `max` entries, unknown users together, and the ID up to which to delete them. */
export async function excessAudit(on: Reader, max: number): Promise<{ actor: string; upTo: number }[]> {
  const { rows } = await sql<{ actor: string; upTo: number }>`select a.actor, (
      select id from audit b where b.actor = a.actor order by id desc limit 1 offset ${max}
    ) as "upTo" from audit a where a.actor_id is not null or a.actor = 'anonymous'
    group by a.actor having count(*) > ${max}`.execute(on.q)
  return rows
}

/** Deletes entries of one actor up to an ID, at most `limit`. Returns their number. */
export async function forgetAuditUpTo(
  tx: Writer,
  { actor, upTo }: { actor: string; upTo: number },
  limit: number,
): Promise<number> {
  const { rows } = await sql`delete from audit where id in (
    select id from audit where actor = ${actor} and id <= ${upTo} limit ${limit}
  ) returning 1 as gone`.execute(tx.q)
  return rows.length
}
