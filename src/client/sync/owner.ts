import { createHash } from 'node:crypto'
import { DAY, type Clock } from '../../base/clock.ts'
import { contract } from '../../contract/contract.ts'
import type { Api } from '../api.ts'
import type { Account } from '../credentials.ts'
import { readOffers, type Features, type Offers } from './offers.ts'
import type { Pace } from './pace.ts'
import type { Limits } from './turns.ts'
import { Refused } from './refusals.ts'
import type { Owner, Registered } from './root.ts'
import type { State } from './state.ts'

const { validate } = contract.syncAuth.actions
const { capabilities } = contract.syncStatus.actions

export interface Identified extends Owner {
  username: string
  device_name: string
}

/** Asks whose the token is, and which server answers. */
export async function identify(
  api: Api,
  signal?: AbortSignal,
): Promise<Identified & { limits: Limits; features: Features }> {
  const options = signal ? { signal } : {}
  const { user, device } = await api.call(validate, {}, { ...options, repeatable: true })
  const { server_id, limits, features } = await api.call(capabilities, {}, options)
  return { server_id, user_id: user.id, username: user.username, device_name: device.device_name, limits, features }
}

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
  pace: Pace
  account: Account
  registered: Registered
  state: State
  clock: Clock
  signal: AbortSignal
}

/** What an account is remembered by: a hash, from which nobody gets the token back. */
export const fingerprint = ({ url, token }: Account): string =>
  createHash('sha256').update(`${url}\n${token}`).digest('hex')

/**
 * Makes sure that the signed-in account is the one whose files the folder holds. Asked once for each token and then once a
 * day, together with the server's limits and what it offers. Throws `Refused` when it is another.
 */
export async function assertOwner({ api, pace, account, registered, state, clock, signal }: Parts): Promise<void> {
  const known = state.get<KnownServer>('server')
  const token = fingerprint(account)
  if (known?.token === token && known.features && clock.now() - known.at < DAY && clock.now() >= known.at) return
  const found = await pace({ limit: 'none' }, () => identify(api, signal))
  const { server_id, user_id, username, limits, features } = found
  if (server_id !== registered.server_id || user_id !== registered.user_id) {
    throw otherAccount(registered, `${username} at ${account.url}`)
  }
  state.set('server', { token, limits, features, at: clock.now() } satisfies KnownServer)
}

export const otherAccount = ({ path, username, url }: Registered, found: string): Refused =>
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
export const knownOffers = (state: State): Offers => readOffers(state.get<KnownServer>('server')?.features ?? {})
