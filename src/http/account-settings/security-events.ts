import { iso } from '../../base/clock.ts'
import { accountSettings } from '../../contract/account-settings.ts'
import { handle } from '../handler.ts'

export const securityEvents = handle(accountSettings.actions.security_events, async ({ caller, domain }) => ({
  events: (await domain.accounts.securityEvents(caller.user)).map((event) => ({ ...event, at: iso(event.at) })),
}))
