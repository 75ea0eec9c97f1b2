import { DAY, type Clock } from '../../base/clock.ts'
import { securityEventKinds } from '../../contract/account-settings.ts'
import { accountById } from '../../storage/accounts/accounts.ts'
import type { Database } from '../../storage/engine/database.ts'
import { UNNAMED_ACTORS, type Audit } from '../instance/instance.ts'

const MEMORY = 90 * DAY
const MAX_EVENTS = 50

type Kind = (typeof securityEventKinds)[number]

/** A change of who can access an account. */
export interface SecurityEvent {
  id: number
  /** Epoch ms. */
  at: number
  kind: Kind
  by: 'self' | 'administrator' | 'stranger'
  ip: string | null
  user_agent: string | null
  device_name?: string
}

const isKind = (kind: string): kind is Kind => (securityEventKinds as readonly string[]).includes(kind)

function deviceName(detail: string | null): { device_name?: string } {
  const { device_name: name } = JSON.parse(detail ?? '{}') as { device_name?: unknown }
  return typeof name === 'string' && name !== '' ? { device_name: name } : {}
}

/** Events of one account in the audit log, without those of a former owner of the name. */
export const makeSecurityEvents =
  ({ database, clock, audit }: { database: Database; clock: Clock; audit: Audit }) =>
  async ({ id, username }: { id: number; username: string }): Promise<SecurityEvent[]> => {
    const account = await accountById(database.read, id)
    const since = Math.max(clock.now() - MEMORY, account?.created_at ?? 0)
    const entries = await audit.list({ kinds: securityEventKinds, target: username, since, limit: MAX_EVENTS })
    const by = ({ actor, actor_id }: { actor: string; actor_id: number | null }): SecurityEvent['by'] => {
      if (actor_id === id) return 'self'
      return actor_id === null && actor === UNNAMED_ACTORS.stranger ? 'stranger' : 'administrator'
    }
    return entries.flatMap(({ kind, at, ip, user_agent, detail, ...entry }) =>
      isKind(kind) ? [{ id: entry.id, at, kind, by: by(entry), ip, user_agent, ...deviceName(detail) }] : [],
    )
  }
