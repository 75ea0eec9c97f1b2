import { createHash } from 'node:crypto'
import type { Api } from '../api.ts'
import type { Account } from './credentials.ts'
import { contract } from '../../contract/contract.ts'
import type { Limits } from '../http/rate-limiter.ts'

const { validate } = contract.syncAuth.actions
const { capabilities } = contract.syncStatus.actions

/** The account that a local folder belongs to. */
export interface AccountIdentity {
  server_id: string
  user_id: number
}

export type Features = Record<string, unknown>

export interface IdentifiedAccount extends AccountIdentity {
  username: string
  device_name: string
}

/** Asks the server for its ID and the account of the token. */
export async function identify(
  api: Api,
  signal?: AbortSignal,
): Promise<IdentifiedAccount & { limits: Limits; features: Features }> {
  const options = signal ? { signal } : {}
  const { user, device } = await api.call(validate, {}, { ...options, repeatable: true })
  const { server_id, limits, features } = await api.call(capabilities, {}, options)
  return { server_id, user_id: user.id, username: user.username, device_name: device.device_name, limits, features }
}

/** Identifies a remembered account: a hash, from which the token cannot be recovered. */
export const fingerprint = ({ url, token }: Account): string =>
  createHash('sha256').update(`${url}\n${token}`).digest('hex')
