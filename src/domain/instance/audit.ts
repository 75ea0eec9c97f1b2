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

export interface RequestOrigin {
  ip: string
  userAgent: string
  /** Whether the address belongs to a proxy that is not configured. */
  isShared?: boolean
}

/** Actors without an account: the server, and a client that is not signed in. A command is `cli:<uid>`. */
export const UNNAMED_ACTORS = { server: 'system', stranger: 'anonymous' } as const

/** An audited event. Contains neither secrets nor typed text that may be one. */
export interface AuditEvent {
  kind: AuditKind
  /** Acting user; undefined for an unknown client if `from` is set, otherwise for the operator of this process. */
  by?: number | undefined
  from?: RequestOrigin | undefined
  /** Id of the affected account. */
  about?: number | undefined
  detail?: Record<string, unknown>
}

/** The actor and origin of an event; empty for the operator of this process. */
export type AuditActor = Pick<AuditEvent, 'by' | 'from'>

export type StoredEntry = StoredAuditEntry

export interface Audit {
  /** Writes an entry in the transaction of the change. */
  record(tx: Writer, event: AuditEvent): Promise<void>
  /** Entries, newest first. */
  list(filter: AuditFilter): Promise<StoredAuditEntry[]>
  /** The id of the newest entry; 0 if there is none. */
  newest(): Promise<number>
  /** The next entries after an id, oldest first. */
  after(id: number, limit: number): Promise<StoredAuditEntry[]>
}

/** Retention of entries, ms. */
export const AUDIT_MEMORY = 365 * DAY

const USER_AGENT_LENGTH = 200

/** The audit log. `operator` is the actor without a user: `system`, or `cli:<uid>` for commands. */
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
      const unnamed = from ? UNNAMED_ACTORS.stranger : operator
      await insertAuditEntry(tx, {
        at: clock.now(),
        kind,
        actor_id: by ?? null,
        actor: by === undefined ? unnamed : await nameOf(tx, by),
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
