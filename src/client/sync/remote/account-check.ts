import { DAY, type Clock } from '../../../base/clock.ts'
import type { Api } from '../../api.ts'
import type { Account } from '../../credentials.ts'
import { readCapabilities, type Capabilities } from './capabilities.ts'
import type { Throttle } from '../../http/throttle.ts'
import type { Limits } from '../../http/rate-limiter.ts'
import type { Registered } from '../state/root.ts'
import type { State } from '../state/store.ts'
import { Refused } from '../../refused.ts'
import { type Features, identify, fingerprint } from '../../account-identity.ts'

/** What is remembered of the server between runs. */
interface KnownServer {
  /** The token it was asked with; another one may be another account's. */
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
 * Makes sure that the signed-in account is the one whose files the folder holds. Asked once for each token and then once a
 * day, together with the server's limits and what it offers. Throws `Refused` when it is another.
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
    throw otherAccountError(registered, `${username} at ${account.url}`)
  }
  state.set('server', { token, limits, features, at: clock.now() } satisfies KnownServer)
}

export const otherAccountError = ({ path, username, url }: Registered, found: string): Refused =>
  new Refused(
    'other_account',
    `${path} holds the files of ${username} at ${url}, but this is ${found}: choose the account with --profile. Nothing was changed.`,
  )

/** The server's limits as they were last heard of, without those that make no sense. */
export function knownLimits(state: State): Limits {
  const limits = Object.entries(state.get<KnownServer>('server')?.limits ?? {})
  return Object.fromEntries(limits.filter(([, { max, per }]) => max > 0 && per > 0))
}

/** What the server offers beyond the bare interface, as it was last heard of. */
export const knownCapabilities = (state: State): Capabilities =>
  readCapabilities(state.get<KnownServer>('server')?.features ?? {})
