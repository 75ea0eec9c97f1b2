import { iso, MINUTE } from '../../base/clock.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'

export const mint = command({
  name: 'token mint',
  summary: 'Create a device token for automation, with an expiry date',
  details:
    'Needs neither password nor second factor. Prints only the token, for $(…); it is not shown again.\n' +
    'Anybody who has the token can act as the user until it expires (after 30 days at most), or until svc device revoke or ' +
    'svc user disable. Like every device token it cannot install code on the desktop; --allow code permits that, for a ' +
    'pipeline that deploys apps or scripts.',
  needs: 'domain',
  args: {},
  flags: {
    user: flag.text('user of the token', 'NAME'),
    ttl: flag.duration('how long it is valid (15m)'),
    name: flag.text('its name in svc device list', 'TEXT'),
    allow: flag.choice('let it install code: system apps, and components of type js', 'RIGHT', ['code']),
  },
  examples: [
    'svc token mint --user ada --ttl 15m',
    'SVC_URL=http://127.0.0.1:8420 SVC_TOKEN=$(svc token mint --user ci --name nightly) svc files ls',
    'SVC_URL=http://127.0.0.1:8420 SVC_TOKEN=$(svc token mint --user ci --allow code) svc component save menu menu.js',
  ],
  async run({ io, domain: { accounts }, flags: { user, ttl = 15 * MINUTE, name, allow } }) {
    if (user === undefined) throw usage('Give the user of the token: --user NAME.')
    const { id, username } = await accounts.byName(user)
    const { expires_at, ...minted } = await accounts.mintToken(id, { ttl, name, code: allow === 'code' })
    io.printAlways(minted.token, { ...minted, user: username, expires_at: iso(expires_at) })
  },
})
