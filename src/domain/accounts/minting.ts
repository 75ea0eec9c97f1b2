import { DAY, iso, SECOND, type Clock } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import { printable } from '../../base/text.ts'
import { fault } from '../../contract/errors.ts'
import { accountById } from '../../storage/accounts/accounts.ts'
import type { Database } from '../../storage/engine/database.ts'
import { insertToken, mintedTokens, trimMintedTokens } from '../../storage/accounts/device-tokens.ts'
import type { Audit } from '../instance/instance.ts'
import { invalidField } from './account-faults.ts'
import { hashToken, newToken } from './tokens.ts'
import { orNotFound } from './user.ts'

/** Lifetime of a minted token, ms. */
const TTL = { min: SECOND, max: 30 * DAY } as const

const NAME_LENGTH = 200

/** Living minted tokens of one account: a script that mints in a loop must not fill the table. */
const MAX_PER_USER = 1_000

export interface MintedToken {
  /** The only copy: the database stores its hash. */
  token: string
  token_id: number
  device_id: string
  device_name: string
  /** Epoch ms. */
  expires_at: number
}

/**
 * Issues a device token that expires after `ttl` milliseconds, without password or second factor, for the operator of this
 * machine. Throws `forbidden` for a disabled account, `bad_request` for a ttl or name out of bounds, `conflict` if the
 * account has too many.
 */
export type MintToken = (
  user: number,
  wanted: {
    ttl: number
    name?: string | undefined
    /** Whether it may install code, as a session may. */
    code?: boolean | undefined
    /** How many minted tokens of this name stay, this one included: the newest; all by default. */
    keep?: number | undefined
  },
) => Promise<MintedToken>

export const makeMinting =
  ({ database, clock, audit }: { database: Database; clock: Clock; audit: Audit }): MintToken =>
  async (user, { ttl, name = 'Minted token', code = false, keep }) => {
    if (!(ttl >= TTL.min && ttl <= TTL.max))
      throw invalidField('ttl', 'A minted token lasts from one second to 30 days.')
    const fits = name.trim() !== '' && name.length <= NAME_LENGTH && name.isWellFormed() && printable(name) === name
    if (!fits) throw invalidField('name', `The name of a token has 1 to ${NAME_LENGTH} characters, on one line.`)
    const token = newToken()
    const now = clock.now()
    // A new device each time: a minted token never replaces one in use.
    const device = { device_id: `minted-${randomHex(8)}`, device_name: name }
    const expires_at = now + ttl
    return database.write({ accounts: [user] }, async (tx) => {
      const { username, disabled_at } = await orNotFound(accountById(tx, user))
      if (disabled_at !== null) throw fault('forbidden', { text: `"${username}" is disabled and gets no token.` })
      if (keep !== undefined) await trimMintedTokens(tx, user, name, keep - 1)
      if ((await mintedTokens(tx, user, now)) >= MAX_PER_USER) {
        const text = `"${username}" has ${MAX_PER_USER} minted tokens already: revoke some, or wait until they end.`
        throw fault('conflict', { text })
      }
      const row = { user_id: user, ...device, token_hash: hashToken(token), created_at: now, expires_at }
      const token_id = await insertToken(tx, { ...row, last_used_at: null, last_ip: null, allows_code: code ? 1 : 0 })
      const detail = { token_id, ...device, expires_at: iso(expires_at), ...(code && { allow: 'code' }) }
      await audit.record(tx, { kind: 'token.minted', about: user, detail })
      return { token, token_id, ...device, expires_at }
    })
  }
