import type { Writer } from '../../storage/engine/database.ts'
import { deleteTokensOf, type Lifetime } from '../../storage/accounts/device-tokens.ts'
import { deleteSessionsOf } from '../../storage/accounts/sessions.ts'

/** Ends the device tokens and sessions of an account, except the session `kept`. Returns their numbers for the audit log. */
export const revokeAccess = async (tx: Writer, user: number, lifetime: Lifetime, kept?: number) => ({
  sessions_ended: await deleteSessionsOf(tx, user, kept),
  devices_ended: await deleteTokensOf(tx, user, lifetime),
})
