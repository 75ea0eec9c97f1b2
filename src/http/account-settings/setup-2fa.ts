import { accountSettings } from '../../contract/account-settings.ts'
import { issuerOf } from '../../domain/accounts/accounts.ts'
import { handle } from '../handler.ts'
import { qrPicture } from './qr-picture.ts'

export const setup2fa = handle(accountSettings.actions.setup_2fa, async ({ params, caller, domain, origin }) => {
  await domain.accounts.confirmPresence(caller, params.current_password, origin)
  const { public_url } = await domain.instance.settings.values()
  const { secret, otpauth_url } = await domain.accounts.twoFactor.setUp(caller.user.id, issuerOf(public_url))
  return { secret, otpauth_url, qr_code_url: qrPicture(otpauth_url) }
})
