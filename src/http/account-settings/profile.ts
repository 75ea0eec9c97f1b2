import { accountSettings } from '../../contract/account-settings.ts'
import { handle } from '../handler.ts'

export const profile = handle(accountSettings.actions.profile, ({ caller: { user } }) => Promise.resolve({ user }))
