import type { Actor, InSession } from '../../domain/accounts/accounts.ts'
import type { Domain } from '../../domain/domain.ts'
import type { AuditActor } from '../../domain/instance/instance.ts'
import type { Origin } from '../handler.ts'

interface FromAdministrator {
  caller: InSession
  origin: Origin
  domain: Domain
}

/** The caller as an administrator who changes an account. */
export const actorOf = ({ caller, origin }: FromAdministrator): Actor & { by: number } => ({
  ...origin,
  session_id: caller.session.session_id,
  by: caller.user.id,
})

/** The caller as an administrator who changes the service. */
export const auditActorOf = ({ caller, origin }: FromAdministrator): AuditActor => ({
  by: caller.user.id,
  from: origin,
})

/** Requires the caller's own password. Faults: `invalid_credentials`, `account_locked`, `rate_limited`, `busy`. */
export const confirmPassword = ({ caller, origin, domain }: FromAdministrator, password: string): Promise<void> =>
  domain.accounts.confirmPassword(caller.user, password, origin)
