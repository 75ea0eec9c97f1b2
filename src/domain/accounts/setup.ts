import { MINUTE, type Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { adminIds } from '../../storage/accounts/accounts.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'
import { deleteSetupLinks, replaceSetupLink, isSetupLinkValid } from '../../storage/accounts/setup-links.ts'
import type { Audit, RequestOrigin } from '../instance/instance.ts'
import type { NewAccounts } from './new-accounts.ts'
import { randomHex } from '../../base/random.ts'
import { hashToken } from './tokens.ts'
import type { User } from './user.ts'

const LINK_MS = 30 * MINUTE

export interface FirstAdministrator {
  token: string
  username: string
  password: string
  display_name?: string | undefined
}

/** State of a set-up link: valid, invalid, or unnecessary because there is an administrator. */
export type SetupState = 'open' | 'invalid' | 'done'

export interface Setup {
  /** The token of a set-up link, valid for 30 minutes; earlier links end. Undefined if there is an administrator. */
  offer(): Promise<{ token: string; expires_at: number } | undefined>
  state(token: string): Promise<SetupState>
  /** Throws `gone` if there is an administrator, `not_found` for an invalid link, `exists`, `bad_request`, `busy`. */
  complete(administrator: FirstAdministrator, from: RequestOrigin): Promise<User>
}

interface Deps {
  database: Database
  clock: Clock
  newAccounts: NewAccounts
  audit: Audit
}

/** Set-up of the first administrator by a link that only the server's terminal shows. */
export function makeSetup({ database, clock, newAccounts, audit }: Deps): Setup {
  async function stateOf(on: Reader, token: string): Promise<SetupState> {
    // In this order: the first administrator's commit removes the link.
    const isValid = await isSetupLinkValid(on, hashToken(token), clock.now())
    if ((await adminIds(on)).length > 0) return 'done'
    return isValid ? 'open' : 'invalid'
  }

  async function assertOpen(on: Reader, token: string): Promise<void> {
    const state = await stateOf(on, token)
    if (state === 'done') throw fault('gone', { text: 'The service has an administrator already. Sign in instead.' })
    if (state === 'invalid') {
      const text = 'This set-up link is not valid or too old. Start the server again for a new one.'
      throw fault('not_found', { text })
    }
  }

  return {
    async offer() {
      // 128 bits: the link fits into a line of 80 columns, and ends after half an hour.
      const token = randomHex(16)
      const expires_at = clock.now() + LINK_MS
      const offered = await database.write('instance', async (tx) => {
        if ((await adminIds(tx)).length > 0) return false
        await replaceSetupLink(tx, hashToken(token), expires_at)
        return true
      })
      return offered ? { token, expires_at } : undefined
    },
    state: (token) => stateOf(database.read, token),
    async complete({ token, username, password, display_name }, from) {
      await assertOpen(database.read, token)
      const names = { username, ...(display_name !== undefined && { display_name }) }
      const account = await newAccounts.prepare({ ...names, password, role: 'admin' })
      return database.write('instance', async (tx) => {
        // Two requests may carry the same link; the first one consumes it.
        await assertOpen(tx, token)
        const user = await newAccounts.store(tx, account, { from })
        await deleteSetupLinks(tx)
        await audit.record(tx, { kind: 'setup.done', by: user.id, from, about: user.id })
        return user
      })
    },
  }
}
