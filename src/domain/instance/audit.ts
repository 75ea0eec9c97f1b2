import { DAY, type Clock } from '../../base/clock.ts'
import { accountById } from '../../storage/accounts/accounts.ts'
import {
  auditEntries,
  auditEntriesAfter,
  insertAuditEntry,
  newestAuditId,
  type AuditFilter,
  type StoredAuditEntry,
} from '../../storage/instance/audit.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import type { AuditKind } from './audit-kinds.ts'

/** Where somebody acts. */
export interface RequestOrigin {
  ip: string
  userAgent: string
}

/** Something that happened. Never holds a secret, nor what somebody typed where a secret might be. */
export interface AuditEvent {
  kind: AuditKind
  /** Id of the user who did it; without one, somebody unknown when `from` is given, else whoever runs this process. */
  by?: number | undefined
  from?: RequestOrigin | undefined
  /** Id of the account it happened to. */
  about?: number | undefined
  detail?: Record<string, unknown>
}

/** Who does something and from where, as a happening says it; nothing for whoever runs this process. */
export type AuditActor = Pick<AuditEvent, 'by' | 'from'>

export type StoredEntry = StoredAuditEntry

export interface Audit {
  /** Writes an entry in the transaction of the change it tells of, so that neither is there without the other. */
  record(tx: Writer, happening: AuditEvent): Promise<void>
  /** Entries, newest first. */
  list(filter: AuditFilter): Promise<StoredAuditEntry[]>
  /** The id of the newest entry, 0 when there is none. */
  newest(): Promise<number>
  /** The next entries written after the one with this id, whatever they are, oldest first. */
  after(id: number, limit: number): Promise<StoredAuditEntry[]>
}

/** How long entries are kept, ms. */
export const AUDIT_MEMORY = 365 * DAY

const USER_AGENT_LENGTH = 200

/** The log of who did what. `operator` is who acts where no user does: `system`, or `cli:<uid>` for commands. */
export function makeAudit({
  database,
  clock,
  operator,
}: {
  database: Database
  clock: Clock
  operator: string
}): Audit {
  const nameOf = async (tx: Writer, id: number) => (await accountById(tx, id))?.username ?? `#${id}`

  return {
    async record(tx, { kind, by, from, about, detail }) {
      const stranger = from ? 'anonymous' : operator
      await insertAuditEntry(tx, {
        at: clock.now(),
        kind,
        actor_id: by ?? null,
        actor: by === undefined ? stranger : await nameOf(tx, by),
        target: about === undefined ? null : await nameOf(tx, about),
        ip: from?.ip ?? null,
        user_agent: from ? from.userAgent.slice(0, USER_AGENT_LENGTH) : null,
        detail: detail ? JSON.stringify(detail) : null,
      })
    },
    list: (filter) => auditEntries(database.read, filter),
    newest: () => newestAuditId(database.read),
    after: (id, limit) => auditEntriesAfter(database.read, id, limit),
  }
}
