import { iso, MINUTE } from '../../base/clock.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'

export const mint = command({
  name: 'token mint',
  summary: 'A device token for automation that ends by itself',
  details:
    'Made on this machine, without password or second factor. The token alone is printed, for $(…); it is not shown again.\n' +
    'Whoever has it acts as the user until it ends: at most 30 days, or until svc device revoke or svc user disable. Like every\n' +
    'device token it plants no code on the desktop, unless --allow code says so: for a pipeline that deploys apps or scripts.',
  needs: 'domain',
  args: {},
  flags: {
    user: flag.text('whose token it is', 'NAME'),
    ttl: flag.duration('how long it lasts (15m)'),
    name: flag.text('what svc device list calls it', 'TEXT'),
    allow: flag.choice('lets it plant code too: system apps, and components of type js', 'RIGHT', ['code']),
  },
  examples: [
    'svc token mint --user ada --ttl 15m',
    'SVC_URL=http://127.0.0.1:8420 SVC_TOKEN=$(svc token mint --user ci --name nightly) svc files ls',
    'SVC_TOKEN=$(svc token mint --user ci --allow code) svc component save menu menu.js',
  ],
  async run({ io, domain: { accounts }, flags: { user, ttl = 15 * MINUTE, name, allow } }) {
    if (user === undefined) throw usage('Say whose token it is to be: --user NAME.')
    const { id, username } = await accounts.byName(user)
    const { expires_at, ...minted } = await accounts.mintToken(id, { ttl, name, code: allow === 'code' })
    io.printAlways(minted.token, { ...minted, user: username, expires_at: iso(expires_at) })
  },
})
