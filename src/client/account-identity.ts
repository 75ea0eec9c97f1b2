import { createHash } from 'node:crypto'
import type { Api } from './api.ts'
import type { Account } from './credentials.ts'
import { contract } from '../contract/contract.ts'
import type { Limits } from './http/rate-limiter.ts'

const { validate } = contract.syncAuth.actions
const { capabilities } = contract.syncStatus.actions

/** Whose files a folder holds. */
export interface AccountIdentity {
  server_id: string
  user_id: number
}

export type Features = Record<string, unknown>

export interface IdentifiedAccount extends AccountIdentity {
  username: string
  device_name: string
}

/** Asks whose the token is, and which server answers. */
export async function identify(
  api: Api,
  signal?: AbortSignal,
): Promise<IdentifiedAccount & { limits: Limits; features: Features }> {
  const options = signal ? { signal } : {}
  const { user, device } = await api.call(validate, {}, { ...options, repeatable: true })
  const { server_id, limits, features } = await api.call(capabilities, {}, options)
  return { server_id, user_id: user.id, username: user.username, device_name: device.device_name, limits, features }
}

/** What an account is remembered by: a hash, from which nobody gets the token back. */
export const fingerprint = ({ url, token }: Account): string =>
  createHash('sha256').update(`${url}\n${token}`).digest('hex')
