import { sql } from 'kysely'
import { first, prepared, type Reader, type Writer } from '../engine/database.ts'
import { nextTurn } from '../engine/event-loop.ts'
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

/** The newest entries that match, newest first, at most `limit`. */
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

/** The newest entry to delete: all before it are older. */
interface Excess {
  actor: string
  at: number
  id: number
}

const actorAfterQuery = prepared<{ actor: string }, { actor: string }>(({ q, p }) =>
  q.selectFrom('audit').select('actor').where('actor', '>', p.actor).orderBy('actor').limit(1),
)

const nthNewestQuery = prepared<
  { actor: string; skipped: number },
  { at: number; id: number; actor_id: number | null }
>(({ q, p }) =>
  q
    .selectFrom('audit')
    .select(['at', 'id', 'actor_id'])
    .where('actor', '=', p.actor)
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .offset(p.skipped),
)

/** Whether the entries of an actor are limited: those of accounts, and of unknown users together. */
async function isLimited(on: Reader, actor: string): Promise<boolean> {
  if (actor === 'anonymous') return true
  const newest = await first(nthNewestQuery(on, { actor, skipped: 0 }))
  return newest !== undefined && newest.actor_id !== null
}

/** Actors with more than `max` entries, unknown users together, and the newest entry to delete. */
export async function excessAudit(on: Reader, max: number): Promise<Excess[]> {
  const found: Excess[] = []
  for (let next = await first(actorAfterQuery(on, { actor: '' })); next; await nextTurn()) {
    const { actor } = next
    const newest = (await isLimited(on, actor)) && (await first(nthNewestQuery(on, { actor, skipped: max })))
    if (newest) found.push({ actor, at: newest.at, id: newest.id })
    next = await first(actorAfterQuery(on, { actor }))
  }
  return found
}

/** Deletes the oldest entries of one actor up to one of them, at most `limit`. Returns their number. */
export async function forgetAuditUpTo(tx: Writer, { actor, at, id }: Excess, limit: number): Promise<number> {
  const { rows } = await sql`delete from audit where id in (
    select id from audit where actor = ${actor} and (at < ${at} or (at = ${at} and id <= ${id})) order by at, id limit ${limit}
  ) returning 1 as gone`.execute(tx.q)
  return rows.length
}
