import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { printable } from '../../base/text.ts'
import type { Api } from '../../client/api.ts'
import type { Profile } from '../../client/auth/credentials.ts'
import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import type { Io } from '../io.ts'

export const login = command({
  name: 'login',
  summary: 'Sign in to a server and store a device token',
  details:
    'Asks for what is missing. The token is stored in credentials.json in the configuration folder, readable by you only; ' +
    'the password is not stored. Without an address it signs in to the last server of the profile.\n\n' +
    'Without a terminal, give --username and --password-stdin, and --code-stdin for a second factor. A script that runs on a machine of its own, such ' +
    'as a CI runner, needs no sign-in: svc token mint makes a token for it, and the commands of the client use the environment variables SVC_URL and SVC_TOKEN.',
  needs: 'nothing',
  args: { url: { summary: 'address of the server', optional: true } },
  flags: {
    username: flag.text('user name', 'NAME', { short: 'u' }),
    passwordStdin: flag.switch('read the password from the first line of standard input'),
    codeStdin: flag.switch('read the code of the second factor from the second line'),
    deviceName: flag.text('name of the device in lists (the name of this machine)', 'NAME'),
    insecure: flag.switch('accept an unencrypted connection to another machine, now and later'),
  },
  examples: [
    'svc login https://cloud.example.org',
    'svc login https://cloud.example.org --username ada --password-stdin < password.txt',
    'svc login https://work.example.org --profile work',
  ],
  async run({ io, globals, args, flags }) {
    const store = await import('../../client/auth/credentials.ts')
    const { normalAddress, mustBePrivate } = await import('../../client/http/server-address.ts')
    const { env } = globals
    if (flags.codeStdin && !flags.passwordStdin)
      throw usage('--code-stdin needs --password-stdin: the code is the second line.')

    const credentials = await store.readCredentials(env)
    const profile = globals.profile ?? credentials.current
    if (!store.isProfileName(profile)) {
      throw usage(`"${profile}" cannot be the name of a profile: use letters, digits, dots, dashes and underscores.`)
    }
    const stored = Object.hasOwn(credentials.profiles, profile) ? credentials.profiles[profile] : undefined
    const address = args.url ?? stored?.url
    if (address === undefined) throw usage('Give the address of the server: svc login https://cloud.example.org')
    const url = normalAddress(address)
    const known = stored?.url === url ? stored : undefined
    const insecure = flags.insecure || known?.insecure === true
    mustBePrivate(url, insecure)
    assertSameAccount(profile, stored, url, flags.username)

    const { makeApi } = await import('../../client/api.ts')
    const { makeNodeTransport } = await import('../../client/http/node-transport.ts')
    const { assertReachable, signIn } = await import('../../client/auth/sign-in.ts')
    const transport = makeNodeTransport()
    try {
      const api = makeApi({ url, token: undefined, transport })
      await assertReachable(api)
      const username = flags.username ?? known?.username ?? (await io.ask('User name:', '--username'))
      // Signing in ends the earlier token of this device: first make sure that the new one can be stored.
      if (stored) await store.changeCredentials(env, () => undefined)
      const [password, code] = await readPasswordAndCode(io, flags, `Password of ${username} at ${url}:`)
      const device_id = stored?.device_id ?? randomUUID()
      const device_name = flags.deviceName ?? stored?.device_name ?? (hostname() || 'computer')
      const { token, user } = await signIn(api, {
        username,
        password,
        device_id,
        device_name,
        code: async () => code ?? (await io.askSecret('Code of the second factor (or a backup code):', '--code-stdin')),
        mayRetry: code === undefined,
      })
      const entry = { url, username: user.username, user_id: user.id, token, device_id, device_name }
      const signedIn = makeApi({ url, token, transport })
      const isCurrent = await storeProfile(
        env,
        profile,
        { ...entry, ...(insecure ? { insecure: true } : {}) },
        signedIn,
      )
      const words = [`Signed in to ${url} as ${printable(user.username)}.`]
      if (!isCurrent)
        words.push(`Use it with --profile ${profile}, or make it the current one: svc profile use ${profile}`)
      if (env['SVC_URL'] || env['SVC_TOKEN'])
        io.warn('SVC_URL and SVC_TOKEN are set: commands use them, not this sign-in.')
      const { token: _token, ...shown } = entry
      io.print(words.join('\n'), { profile, current: isCurrent, ...shown, display_name: user.display_name })
    } finally {
      transport.close()
    }
  },
})

/** A profile holds one account. Replacing it silently would leave a valid token behind and redirect later commands. */
function assertSameAccount(
  profile: string,
  stored: Profile | undefined,
  url: string,
  username: string | undefined,
): void {
  if (!stored?.token) return
  if (stored.url === url && (username === undefined || username.toLowerCase() === stored.username)) return
  throw new Exit(
    6,
    `The profile ${profile} is signed in to ${stored.url} as ${printable(stored.username)}: name another one with --profile, or run svc logout first.`,
    'exists',
  )
}

/** Reads password and code: both from standard input, or only the password from a prompt. */
async function readPasswordAndCode(
  io: Io,
  { passwordStdin, codeStdin }: { passwordStdin: boolean; codeStdin: boolean },
  question: string,
): Promise<[password: string, code: string | undefined]> {
  const [password, code] = passwordStdin
    ? (await io.stdin()).split(/\r?\n/)
    : [await io.askSecret(question, '--password-stdin')]
  if (!password) throw usage('The password is empty.')
  if (!codeStdin) return [password, undefined]
  if (!code?.trim()) throw usage('Standard input has no second line with the code.')
  return [password, code.trim()]
}

/** Stores the credentials and returns whether they are the current profile; revokes a token that cannot be stored. */
async function storeProfile(env: NodeJS.ProcessEnv, name: string, profile: Profile, api: Api): Promise<boolean> {
  const { changeCredentials } = await import('../../client/auth/credentials.ts')
  let current = name
  try {
    await changeCredentials(env, (all) => {
      all.profiles[name] = profile
      if (!Object.hasOwn(all.profiles, all.current) || !all.profiles[all.current]?.token) all.current = name
      current = all.current
    })
  } catch (error) {
    const { syncAuth } = await import('../../contract/sync-auth.ts')
    // Report the first error, whether or not revoking succeeds.
    await api.call(syncAuth.actions.logout, {}).catch(() => undefined)
    throw error
  }
  return current === name
}
