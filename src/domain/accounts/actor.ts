import { fault } from '../../contract/errors.ts'
import type { AuditActor, AuditEvent, RequestOrigin } from '../instance/instance.ts'

/** Who changes an account, from where and in which session; that session survives when the account's others end. */
export interface Actor extends RequestOrigin {
  session_id?: number
  /** Id of the acting administrator; undefined if the user acts. */
  by?: number
}

/** The actor for the audit log; without `actor`, the operator of this process. */
export const auditActor = (user: number, actor: Actor | undefined): AuditActor & Pick<AuditEvent, 'about'> =>
  actor ? { by: actor.by ?? user, from: actor, about: user } : { about: user }

/** Refuses changes that administrators cannot make to themselves, so that nobody locks themselves out: fault `conflict`. */
export function assertOther(actor: Actor | undefined, user: number, text: string): void {
  if (actor?.by === user) throw fault('conflict', { text })
}
