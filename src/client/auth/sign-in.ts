import { isFault } from '../../contract/errors.ts'
import { syncAuth } from '../../contract/sync-auth.ts'
import { syncStatus } from '../../contract/sync-status.ts'
import type { Api } from '../api.ts'
import { isToken } from './credentials.ts'
import { Unreachable } from '../errors.ts'

export interface SignIn {
  username: string
  password: string
  device_id: string
  device_name: string
  /** Returns the code of the second factor; called again after a wrong code if `mayRetry`. */
  code(): Promise<string>
  /** Whether a user can type another code. */
  mayRetry: boolean
}

export interface SignedIn {
  token: string
  user: { id: number; username: string; display_name: string }
}

const CODE_TRIES = 3

/** Checks that an svc server answers before a password is typed. */
export async function assertReachable(api: Api): Promise<void> {
  const { status } = await api.call(syncStatus.actions.ping, {}).catch((error: unknown) => {
    if (isFault(error, 'not_found')) return { status: 'missing' }
    throw error
  })
  if (status !== 'ok') throw new Unreachable(`${api.url} is not an svc server: check the address.`)
}

/** Exchanges a password, and a code if the account has a second factor, for a device token. */
export async function signIn(api: Api, { code, mayRetry, ...credentials }: SignIn): Promise<SignedIn> {
  const first = await api.call(syncAuth.actions.login, credentials)
  if (first.requires_2fa !== true) return complete(api, first)
  const pending_token = first.pending_token ?? ''
  for (let attempt = 1; ; attempt++) {
    try {
      return complete(api, await api.call(syncAuth.actions.login_2fa, { pending_token, code: await code() }))
    } catch (error) {
      if (!isFault(error, 'invalid_code') || !mayRetry || attempt === CODE_TRIES) throw error
    }
  }
}

function complete(api: Api, { token, user }: { token?: string; user?: SignedIn['user'] }): SignedIn {
  if (!isToken(token) || typeof user?.id !== 'number' || typeof user.username !== 'string') {
    throw new Unreachable(`${api.url} accepted the sign-in but sent no token: it is not a valid svc server.`)
  }
  return { token, user }
}
