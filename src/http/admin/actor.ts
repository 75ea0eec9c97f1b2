import type { Actor, InSession } from '../../domain/accounts/accounts.ts'
import type { Domain } from '../../domain/domain.ts'
import type { AuditActor } from '../../domain/instance/instance.ts'
import type { Origin } from '../handle.ts'

interface FromAdministrator {
  caller: InSession
  origin: Origin
  domain: Domain
}

/** The caller as the administrator who does something to an account. */
export const actorOf = ({ caller, origin }: FromAdministrator): Actor & { by: number } => ({
  ...origin,
  session_id: caller.session.session_id,
  by: caller.user.id,
})

/** The caller as the administrator who changes something of the service. */
export const auditActorOf = ({ caller, origin }: FromAdministrator): AuditActor => ({
  by: caller.user.id,
  from: origin,
})

/** Goes on only with the caller's own password. Faults: `invalid_credentials`, `account_locked`, `rate_limited`, `busy`. */
export const confirmed = ({ caller, origin, domain }: FromAdministrator, password: string): Promise<void> =>
  domain.accounts.confirmPassword(caller.user, password, origin)
