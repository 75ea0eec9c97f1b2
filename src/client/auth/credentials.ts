import { mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode } from '../../base/errors.ts'
import { writeDurably } from '../../host/durable-files.ts'
import { whileLocked } from '../../host/file-lock.ts'
import { userFolder } from '../../host/user-folders.ts'
import { readRegularFile } from '../../host/regular-file.ts'
import { makeApi, type Api } from '../api.ts'
import { makeNodeTransport } from '../http/node-transport.ts'
import { mustBePrivate, normalAddress } from '../http/server-address.ts'
import { NotSignedIn } from '../errors.ts'

/** The account that commands use: its server and token. */
export interface Account {
  /** Base URL without a trailing slash. */
  url: string
  /** Empty with SVC_URL and SVC_TOKEN: only the server knows the account. */
  username: string
  token: string
  /** Name of its profile; empty with SVC_URL and SVC_TOKEN. */
  profile: string
  device_id?: string
}

/** A stored account. */
export interface Profile {
  url: string
  username: string
  user_id: number
  /** Missing after signing out. */
  token?: string
  /** Created once, so that a new login replaces the old token instead of adding a device. */
  device_id: string
  device_name: string
  /** Unencrypted connections were accepted at login. */
  insecure?: true
}

export interface Credentials {
  /** The default profile. */
  current: string
  profiles: Record<string, Profile>
}

type Env = NodeJS.ProcessEnv

const STANDARD_PROFILE = 'default'

const TOKEN = /^[0-9a-f]{64}$/
const PROFILE = /^[a-z0-9][a-z0-9._-]{0,63}$/i

export const isProfileName = (text: string): boolean => PROFILE.test(text)
/** A device token: 256 bits as lower-case hex. */
export const isToken = (text: unknown): text is string => typeof text === 'string' && TOKEN.test(text)

/** The path of the credentials, mode 0600 (XDG Base Directory Specification). */
export const credentialsFile = (env: Env): string => join(userFolder('config', env), 'svc', 'credentials.json')

/** Stored credentials; empty if there are none. Rejects a file that is damaged or that others can read. */
export async function readCredentials(env: Env): Promise<Credentials> {
  const file = credentialsFile(env)
  let text: string
  try {
    text = await readRegularFile(file)
    const { mode } = await stat(file)
    if (process.platform !== 'win32' && mode & 0o077) {
      throw new NotSignedIn(
        `Other users can read ${file} and the tokens in it: run chmod 600 ${file}, and sign in again if somebody may have read them.`,
      )
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { current: STANDARD_PROFILE, profiles: {} }
    throw error
  }
  const credentials = parseCredentials(text)
  if (!credentials) throw new NotSignedIn(`${file} is damaged: fix it, or move it away and sign in again.`)
  return credentials
}

/** Changes the stored credentials under a lock: reads them, calls `change`, and replaces the file atomically. */
export async function changeCredentials(env: Env, change: (credentials: Credentials) => void): Promise<void> {
  const file = credentialsFile(env)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await whileLocked(`${file}.lock`, async () => {
    const credentials = await readCredentials(env)
    change(credentials)
    await writeDurably(file, `${JSON.stringify(credentials, null, 2)}\n`, 0o600)
  })
}

/** The account from SVC_URL and SVC_TOKEN, else the given profile, else the current one. */
export async function findAccount({ env, profile }: { env: Env; profile?: string | undefined }): Promise<Account> {
  const named = env['SVC_URL'] || env['SVC_TOKEN']
  if (named) return accountOfEnvironment(env, profile)

  const { current, profiles } = await readCredentials(env)
  const name = profile ?? current
  const stored = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (!stored?.token) throw new NotSignedIn(howToSignIn(name, profile, stored))
  mustBePrivate(stored.url, stored.insecure === true)
  const { url, username, token, device_id } = stored
  return { url, username, token, profile: name, device_id }
}

export const openApi = ({ url, token }: Account): Api => makeApi({ url, token, transport: makeNodeTransport() })

function accountOfEnvironment(env: Env, profile: string | undefined): Account {
  const { SVC_URL: address, SVC_TOKEN: token } = env
  if (!address || !token) {
    throw new NotSignedIn(
      `${address ? 'SVC_URL is set without SVC_TOKEN' : 'SVC_TOKEN is set without SVC_URL'}: set both or neither.`,
    )
  }
  if (profile !== undefined) {
    throw new NotSignedIn(
      `SVC_URL and SVC_TOKEN name one account and --profile ${profile} another: unset the variables, or leave the option out.`,
    )
  }
  if (!isToken(token))
    throw new NotSignedIn('SVC_TOKEN is not a device token: it has 64 characters, 0 to 9 and a to f.')
  const url = normalAddress(address)
  mustBePrivate(url, env['SVC_INSECURE'] === '1')
  return { url, username: '', token, profile: '' }
}

function howToSignIn(name: string, asked: string | undefined, stored: Profile | undefined): string {
  const flag = asked === undefined ? '' : ` --profile ${name}`
  if (stored) return `Signed out of ${stored.url}: run svc login ${stored.url}${flag}`
  return asked === undefined
    ? 'Not signed in: run svc login URL'
    : `There is no profile ${name}: run svc login URL${flag}, or see svc profile list.`
}

function parseCredentials(text: string): Credentials | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Treated like damage: the caller reports it, and nothing is overwritten.
    return undefined
  }
  const { current, profiles } = (value ?? {}) as Partial<Record<keyof Credentials, unknown>>
  if (typeof current !== 'string' || typeof profiles !== 'object' || profiles === null) return undefined
  return Object.values(profiles).every(isProfile) ? (value as Credentials) : undefined
}

function isProfile(value: unknown): value is Profile {
  if (typeof value !== 'object' || value === null) return false
  const { url, username, user_id, token, device_id, device_name } = value as Record<string, unknown>
  const texts = [url, username, device_id, device_name].every((text) => typeof text === 'string')
  return texts && URL.canParse(url as string) && typeof user_id === 'number' && (token === undefined || isToken(token))
}
