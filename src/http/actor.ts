import type { Actor, InSession } from '../domain/accounts/accounts.ts'
import type { Domain } from '../domain/domain.ts'
import type { AuditActor } from '../domain/instance/instance.ts'
import type { Origin } from './handler.ts'

interface FromAdministrator {
  caller: InSession
  origin: Origin
  domain: Domain
}

/** The caller as actor on their own account. The calling session survives when others are ended. */
export const actorOf = ({ caller, origin }: { caller: InSession; origin: Origin }): Actor => ({
  ...origin,
  session_id: caller.session.session_id,
})

/** The caller as an administrator who changes an account. */
export const administratorOf = (request: FromAdministrator): Actor & { by: number } => ({
  ...actorOf(request),
  by: request.caller.user.id,
})

/** The caller as an administrator who changes the service. */
export const auditActorOf = ({ caller, origin }: FromAdministrator): AuditActor => ({
  by: caller.user.id,
  from: origin,
})

/** Requires the caller's own password. Faults: `invalid_credentials`, `account_locked`, `rate_limited`, `busy`. */
export const confirmPassword = ({ caller, origin, domain }: FromAdministrator, password: string): Promise<void> =>
  domain.accounts.confirmPassword(caller.user, password, origin)
