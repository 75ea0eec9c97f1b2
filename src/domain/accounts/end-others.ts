import type { Writer } from '../../storage/engine/database.ts'
import { deleteTokensOf, type Lifetime } from '../../storage/accounts/device-tokens.ts'
import { deleteSessionsOf } from '../../storage/accounts/sessions.ts'
import type { Actor } from './actor.ts'

/** Signs the account out everywhere but in the actor's session. Returns what ended, for the audit log. */
export async function endOthers(tx: Writer, user: number, actor: Actor | undefined, lifetime: Lifetime) {
  return {
    sessions_ended: await deleteSessionsOf(tx, user, actor?.session_id),
    devices_ended: await deleteTokensOf(tx, user, lifetime),
  }
}
