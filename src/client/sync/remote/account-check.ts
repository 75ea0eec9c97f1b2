import { DAY, type Clock } from '../../../base/clock.ts'
import type { Api } from '../../api.ts'
import type { Account } from '../../auth/credentials.ts'
import { readCapabilities, type Capabilities } from './capabilities.ts'
import type { Throttle } from '../../http/throttle.ts'
import type { Limits } from '../../http/rate-limiter.ts'
import type { Registered } from '../state/root.ts'
import type { State } from '../state/sync-state.ts'
import { Refused } from '../../refused.ts'
import { type Features, identify, fingerprint } from '../../auth/account-identity.ts'

/** What is stored about the server between runs. */
interface KnownServer {
  /** The token used; another one may belong to another account. */
  token: string
  limits: Limits
  features: Features
  at: number
}

interface Parts {
  api: Api
  throttle: Throttle
  account: Account
  registered: Registered
  state: State
  clock: Clock
  signal: AbortSignal
}

/**
 * Verifies that the signed-in account is that of the folder. Asks once per token and then once a day, together with the
 * server's limits and capabilities. Throws `Refused` for another account.
 */
export async function assertSameAccount({
  api,
  throttle,
  account,
  registered,
  state,
  clock,
  signal,
}: Parts): Promise<void> {
  const known = state.get<KnownServer>('server')
  const token = fingerprint(account)
  if (known?.token === token && known.features && clock.now() - known.at < DAY && clock.now() >= known.at) return
  const found = await throttle({ limit: 'none' }, () => identify(api, signal))
  const { server_id, user_id, username, limits, features } = found
  if (server_id !== registered.server_id || user_id !== registered.user_id) {
    throw otherAccountError(
      registered,
      server_id === registered.server_id ? `${username} at ${account.url}` : undefined,
    )
  }
  state.set('server', { token, limits, features, at: clock.now() } satisfies KnownServer)
}

/** `found` is undefined for an account of another server, which may have taken the address of the old one. */
export const otherAccountError = ({ path, username, url }: Registered, found: string | undefined): Refused =>
  new Refused(
    'other_account',
    found === undefined
      ? `${path} holds the files of ${username} at ${url}, but another server answers now, perhaps with a new data directory: nothing was changed. Choose the account with --profile. To fill the new server from the folder, remove ${path}/.svc and run svc sync init ${path}`
      : `${path} holds the files of ${username} at ${url}, but this is ${found}: choose the account with --profile. Nothing was changed.`,
  )

/** The last known limits of the server, without invalid ones. */
export function knownLimits(state: State): Limits {
  const limits = Object.entries(state.get<KnownServer>('server')?.limits ?? {})
  return Object.fromEntries(limits.filter(([, { max, per }]) => max > 0 && per > 0))
}

export const knownCapabilities = (state: State): Capabilities =>
  readCapabilities(state.get<KnownServer>('server')?.features ?? {})
