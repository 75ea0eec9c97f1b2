import { command } from '../command.ts'
import { formatBackupCodes } from './code-text.ts'

export const codes = command({
  name: '2fa codes',
  summary: 'Replace the backup codes with new ones',
  details:
    'Each code is valid for one login, in place of a code from the authenticator app. The old codes stop working.',
  needs: 'domain',
  args: { name: 'user name' },
  flags: {},
  examples: ['svc 2fa codes ada', 'svc 2fa codes ada --json'],
  async run({ io, domain: { accounts }, args }) {
    const { id, username } = await accounts.byName(args.name)
    const backup_codes = await accounts.twoFactor.renewBackupCodes(id)
    const words = `New backup codes of ${username}, each valid for one login:\n\n${formatBackupCodes(backup_codes)}`
    io.printAlways(words, { username, backup_codes })
  },
})
