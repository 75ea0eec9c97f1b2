import { iso } from '../../base/clock.ts'
import { isFault } from '../../contract/errors.ts'
import type { TwoFactorStatus } from '../../domain/accounts/accounts.ts'
import type { Domain } from '../../domain/domain.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import type { Io } from '../io.ts'
import { formatBackupCodes } from './code-text.ts'

/** Attempts to enter the first code. */
const TRIES = 3

export const enable = command({
  name: '2fa enable',
  summary: 'Set up the second factor of an account',
  details:
    'Shows a secret for the authenticator app, also as a QR code, and asks for the first code that the app shows. Then it ' +
    'prints the backup codes.\nFor scripts, in two steps: --begin prints the secret, and --code-stdin takes the code within ' +
    '10 minutes. The second factor is off until then.',
  needs: 'domain',
  args: { name: 'user name' },
  flags: {
    begin: flag.switch('print the secret and do not ask for a code'),
    codeStdin: flag.switch('complete the setup with a code from standard input'),
  },
  examples: [
    'svc 2fa enable ada',
    'svc 2fa enable ada --begin --json',
    'echo 123456 | svc 2fa enable ada --code-stdin --json',
  ],
  async run({ io, domain, args, flags: { begin, codeStdin } }) {
    if (begin && codeStdin) throw usage('Give --begin first, and --code-stdin in a second command.')
    if (!begin && !codeStdin && !io.interactive) {
      throw usage('There is no terminal to ask on: give --begin, and then --code-stdin.')
    }
    const { id } = await domain.accounts.byName(args.name)
    if (!codeStdin) {
      const setUp = await setUpFactor(domain, id)
      const words = await setUpText(io, setUp)
      if (begin) {
        const next = `svc 2fa enable ${setUp.username} --code-stdin`
        io.printAlways(`${words}\n\nThe second factor is still off: ${next} takes the first code.`, setUp)
        return
      }
      if (io.json) io.info(words)
      else io.printAlways(words, undefined)
    }
    const status = await domain.accounts.twoFactor.status(id)
    const backup_codes = codeStdin ? await fromStdin(io, domain, id) : await fromPrompt(io, domain, id)
    printResult(io, status, backup_codes)
  },
})

interface SetUp {
  username: string
  secret: string
  otpauth_url: string
  /** ISO 8601. The first code must be entered before this time. */
  expires_at: string
}

async function setUpFactor({ accounts, instance }: Domain, id: number): Promise<SetUp> {
  const { issuerOf } = await import('../../domain/accounts/accounts.ts')
  const { public_url } = await instance.settings.values()
  const made = await accounts.twoFactor.setUp(id, issuerOf(public_url))
  const { username, set_up_until } = await accounts.twoFactor.status(id)
  return { username, ...made, expires_at: iso(set_up_until!) }
}

async function setUpText(io: Io, { username, secret, otpauth_url }: SetUp): Promise<string> {
  const { terminalQr } = await import('./terminal-qr.ts')
  const groupedSecret = secret.replace(/(.{4})(?=.)/g, '$1 ')
  return [
    `Enter this code, the secret or the address in the authenticator app of ${username}:`,
    ...(io.interactive ? [terminalQr(otpauth_url, io.paint)] : []),
    `    Secret   ${groupedSecret}\n    Address  ${otpauth_url}`,
  ].join('\n\n')
}

async function fromStdin(io: Io, { accounts }: Domain, id: number): Promise<string[]> {
  const code = (await io.stdin()).trim()
  if (code === '') throw usage('Standard input contains no code.')
  return (await accounts.twoFactor.enable(id, code)).backup_codes
}

async function fromPrompt(io: Io, { accounts }: Domain, id: number): Promise<string[]> {
  for (let tries = 1; ; tries += 1) {
    const code = await io.ask('Code shown by the app:', '--code-stdin')
    try {
      return (await accounts.twoFactor.enable(id, code)).backup_codes
    } catch (error) {
      if (!isFault(error, 'invalid_code') || tries === TRIES) throw error
      io.warn('The code is wrong. The app shows a new one every 30 seconds, and both clocks must be correct.')
    }
  }
}

function printResult(io: Io, { username }: TwoFactorStatus, backup_codes: string[]): void {
  const words = `${username} now has a second factor. Backup codes, each valid for one login:\n\n${formatBackupCodes(backup_codes)}`
  io.printAlways(words, { username, enabled: true, backup_codes })
}
