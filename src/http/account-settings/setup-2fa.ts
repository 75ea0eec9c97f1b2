import { accountSettings } from '../../contract/account-settings.ts'
import { handle } from '../handle.ts'
import { qrPicture } from './qr-picture.ts'

export const setup2fa = handle(accountSettings.actions.setup_2fa, async ({ caller, domain }) => {
  const { public_url } = await domain.instance.settings.values()
  const issuer = public_url ? new URL(public_url).hostname : 'svc'
  const { secret, otpauth_url } = await domain.accounts.twoFactor.setUp(caller.user.id, issuer)
  return { secret, otpauth_url, qr_code_url: qrPicture(otpauth_url) }
})
