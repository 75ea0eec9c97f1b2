import { apps } from '../../contract/apps.ts'
import { fault } from '../../contract/errors.ts'
import { mayInstallCode } from '../../domain/accounts/accounts.ts'
import { handle } from '../handler.ts'

const NO_SYSTEM_APP =
  'A device token makes no app of the system: do it on the desktop, or with a token that `svc token mint --allow code` made.'

export const create = handle(apps.actions.create, async ({ params, caller, domain, origin }) => {
  if (params.is_system && !mayInstallCode(caller)) throw fault('forbidden', { text: NO_SYSTEM_APP })
  return { id: await domain.desktop.apps.create(caller.user.id, params, origin) }
})
