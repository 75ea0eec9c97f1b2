import { command } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { documentOf } from '../../domain/accounts/user-document.ts'

export const disable = command({
  name: 'user disable',
  summary: 'Disable an account and sign out all its devices',
  details: 'Files and rows stay. svc user enable enables it again; its devices then have to sign in again.',
  needs: 'domain',
  args: { name: 'user name' },
  flags: {},
  examples: ['svc user disable ada'],
  async run({ io, domain: { accounts }, args }) {
    const { id, username } = await accounts.byName(args.name)
    const { devices, sessions } = await accounts.disable(id)
    const document = documentOf(await accounts.details(username))
    io.print(
      `${username} can no longer sign in; ${pluralize(devices, 'device')} and ${pluralize(sessions, 'session')} ended.`,
      { ...document, devices_ended: devices, sessions_ended: sessions },
    )
  },
})
