import type { Actor, InSession } from '../../domain/accounts/accounts.ts'
import type { Origin } from '../handler.ts'

/** The caller as actor on their own account. The calling session survives when others are ended. */
export const actorOf = ({ caller, origin }: { caller: InSession; origin: Origin }): Actor => ({
  ...origin,
  session_id: caller.session.session_id,
})
