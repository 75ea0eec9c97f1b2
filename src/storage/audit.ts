import type { Reader, Writer } from './database.ts'
import type { AuditRow } from './tables.ts'

export type AuditEntry = Omit<AuditRow, 'id'>
export type StoredAuditEntry = AuditEntry & { id: number }

/** Which entries are asked for. */
export interface AuditFilter {
  kind?: string
  /** Id of the user who acted. */
  user?: number
  /** Only entries older than the one with this id. */
  before?: number
  limit: number
}

export const insertAuditEntry = (tx: Writer, entry: AuditEntry) => tx.q.insertInto('audit').values(entry).execute()

/** Entries of the log, newest first. */
export const auditEntries = (on: Reader, { kind, user, before, limit }: AuditFilter): Promise<StoredAuditEntry[]> =>
  on.q
    .selectFrom('audit')
    .selectAll()
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind!))
    .$if(user !== undefined, (query) => query.where('actor_id', '=', user!))
    .$if(before !== undefined, (query) => query.where('id', '<', before!))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

/** Removes entries from before a moment. Returns how many there were. */
export async function forgetAudit(tx: Writer, before: number): Promise<number> {
  const rows = await tx.q.deleteFrom('audit').where('at', '<', before).returning('id').execute()
  return rows.length
}
