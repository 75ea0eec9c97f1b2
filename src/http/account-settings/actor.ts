import type { Actor, InSession } from '../../domain/accounts/accounts.ts'
import type { Origin } from '../handle.ts'

/** The caller as somebody who changes their own account: the calling session goes on when others end. */
export const actorOf = ({ caller, origin }: { caller: InSession; origin: Origin }): Actor => ({
  ...origin,
  session_id: caller.session.session_id,
})
