import { iso } from '../../base/clock.ts'
import { accountSettings } from '../../contract/account-settings.ts'
import { handle } from '../handler.ts'

export const sessions = handle(accountSettings.actions.sessions, async ({ caller, domain }) => ({
  sessions: (await domain.accounts.sessions.list(caller.user.id)).map((session) => ({
    ...session,
    created_at: iso(session.created_at),
    last_used_at: iso(session.last_used_at),
    current: session.session_id === caller.session.session_id,
  })),
}))
