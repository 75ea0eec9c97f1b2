import { printable } from '../../base/text.ts'
import { syncAuth } from '../../contract/sync-auth.ts'
import { syncStatus } from '../../contract/sync-status.ts'
import { command } from '../command.ts'

export const whoami = command({
  name: 'whoami',
  summary: 'Show the account and server that commands use',
  details:
    'Asks the server whether the token is still valid: exit code 4 if it is not, 7 if the server is not reachable.',
  needs: 'server',
  onlyPrints: true,
  args: {},
  flags: {},
  examples: ['svc whoami', 'svc whoami --profile work --json'],
  async run({ io, api, account }) {
    const { user, device, expires_at } = await api.call(syncAuth.actions.validate, {}, { repeatable: true })
    const { app_version, maintenance_mode, read_only } = await api.call(syncStatus.actions.info, {})
    const { username, display_name } = user
    const name = display_name && display_name !== username ? `${username} (${display_name})` : username
    const lines = [
      `${io.paint.bold(printable(name))} at ${account.url}`,
      `Device    ${printable(device.device_name)}, token ${device.token_id}, ${expires_at ? `expires ${expires_at.slice(0, 10)}` : 'does not expire'}`,
      `Server    svc ${printable(app_version)}${maintenance_mode ? ', under maintenance' : read_only ? ', read-only for the moment' : ''}`,
      `Profile   ${account.profile || 'none: SVC_URL and SVC_TOKEN'}`,
    ]
    io.print(lines.join('\n'), {
      profile: account.profile || null,
      url: account.url,
      user,
      device,
      expires_at,
      server: { version: app_version, maintenance: maintenance_mode, read_only },
    })
  },
})
