import type { Clock } from '../../base/clock.ts'
import { fault, type Fault } from '../../contract/errors.ts'
import type { Contents } from '../../storage/contents.ts'
import { first, prepared, type Database } from '../../storage/database.ts'
import type { Audit } from './audit.ts'
import { makeMaintenance } from './maintenance.ts'
import type { Maintenance, Settings } from './settings.ts'
import { makeUpkeep } from './upkeep.ts'

export { makeAudit, type Audit, type Happening, type Place } from './audit.ts'
export { isOption, options, variableOf, type Option, type OptionName } from './options.ts'
export { makeSettings, type Given, type Maintenance, type Settings, type Source } from './settings.ts'
export { UPKEEP_EVERY } from './upkeep.ts'

/** Names an installation: `server_id` for good, `epoch` until the next restore. */
export interface Identity {
  server_id: string
  epoch: string
}

interface Parts {
  database: Database
  contents: Contents
  clock: Clock
  settings: Settings
  audit: Audit
  identity: Identity
  version: string
}

/** The service as a whole: identity, settings, maintenance, readiness, upkeep. */
export function makeInstance({ database, contents, clock, settings, audit, identity, version }: Parts) {
  let administered = false

  return {
    identity,
    version,
    settings,
    audit,
    maintenance: makeMaintenance({ clock, settings, audit }),
    upkeep: makeUpkeep({ database, contents, clock, settings }),

    /** Whether there is an administrator. Once there is one there always will be: the last cannot be removed. */
    async isSetUp(): Promise<boolean> {
      administered ||= (await first(adminQuery(database.read, {}))) !== undefined
      return administered
    },

    /** What a request that maintenance keeps out is told: 503 with `message`, `until` and `Retry-After`. */
    maintenanceFault({ message, until }: Maintenance): Fault {
      const retryAfter = until === null ? 300 : Math.max(1, Math.ceil((until - clock.now()) / 1_000))
      const fields = { message, until: until === null ? null : new Date(until).toISOString() }
      return fault('maintenance', { ...(message ? { text: message } : {}), retryAfter, fields })
    },

    /** Whether database and blob store answer; throws what does not. */
    async check(): Promise<void> {
      await settings.values()
      await contents.check()
    },

    /** Facts about the database engine, for diagnosis. */
    describe: () => database.describe(),
  }
}

const adminQuery = prepared<Record<string, never>, { id: number }>(({ q }) =>
  q.selectFrom('users').select('id').where('role', '=', 'admin').where('disabled_at', 'is', null).limit(1),
)

export type Instance = ReturnType<typeof makeInstance>
