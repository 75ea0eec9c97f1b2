import { fault } from '../../contract/errors.ts'
import type { AuditActor, AuditEvent, RequestOrigin } from '../instance/instance.ts'

/** Somebody who changes an account: from where, and in which session, which goes on when others of the account end. */
export interface Actor extends RequestOrigin {
  session_id?: number
  /** Id of the administrator who does it; without one, the user of the account does. */
  by?: number
}

/** Who did it, for the audit log: without `actor` whoever runs this process. */
export const auditActor = (user: number, actor: Actor | undefined): AuditActor & Pick<AuditEvent, 'about'> =>
  actor ? { by: actor.by ?? user, from: actor, about: user } : { about: user }

/** Refuses what administrators cannot do to themselves, so that none locks themselves out: fault `conflict`. */
export function assertOther(actor: Actor | undefined, user: number, text: string): void {
  if (actor?.by === user) throw fault('conflict', { text })
}
