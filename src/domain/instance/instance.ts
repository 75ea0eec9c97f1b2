import { iso } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import { Busy } from '../../base/errors.ts'
import { sleep } from '../../base/sleep.ts'
import { fault, type Fault } from '../../contract/errors.ts'
import { someContents } from '../../storage/backups/census.ts'
import type { Contents } from '../../storage/contents/contents.ts'
import { first, prepared } from '../../storage/engine/database.ts'
import { appliedMigrations } from '../../storage/engine/migrations/migrate.ts'
import type { Audit } from './audit.ts'
import { makeMaintenance } from './maintenance.ts'
import type { Maintenance } from './settings.ts'
import { unconfirmedJump } from './clock-jump.ts'
import { makeCleanup } from './cleanup.ts'
import { makeStorageCheck } from './storage-check.ts'
import { makeUntrustedProxy } from './untrusted-proxy.ts'
import { CONTENT_GRACE, makeUpkeep, type UpkeepParts } from './upkeep.ts'
import { makeUsage } from './usage.ts'

export {
  makeAudit,
  UNNAMED_ACTORS,
  type Audit,
  type AuditActor,
  type AuditEvent,
  type RequestOrigin,
  type StoredEntry,
} from './audit.ts'
export { isOption, options, variableOf, type Option, type OptionName, type Values } from './options.ts'
export { makeSettings, type Given, type Maintenance, type Settings, type Source } from './settings.ts'
export type { IntegrityProblem } from './integrity-problems.ts'
export type { StorageReport } from './storage-check.ts'
export { UPKEEP_EVERY } from './upkeep.ts'
export type { AccountUsage, UsageReport } from './usage.ts'

/** Identity of an instance: `server_id` is permanent, `epoch` changes with every restore. */
export interface Identity {
  server_id: string
  epoch: string
}

interface Parts extends UpkeepParts {
  audit: Audit
  identity: Identity
  version: string
}

/** Time limit for the blob store, ms: shorter than the timeout of health checks in proxies. */
const STORE_PATIENCE_MS = 3_000

/** The instance: identity, settings, maintenance, readiness, upkeep. */
export function makeInstance({ database, contents, history, clock, settings, audit, identity, version }: Parts) {
  let administered = false
  const usage = makeUsage({ database, clock, settings, audit })

  async function findAdministrator(): Promise<boolean> {
    administered = (await first(adminQuery(database.read, {}))) !== undefined
    return administered
  }

  return {
    identity,
    version,
    settings,
    audit,
    /** The other servers of this instance, where there can be any. */
    peers: database.peers,
    maintenance: makeMaintenance({ clock, settings, audit }),
    upkeep: makeUpkeep({ database, contents, history, clock, settings }),
    usage,
    untrustedProxy: makeUntrustedProxy(database),
    storage: {
      check: makeStorageCheck({ database, contents, clock, audit, usage }),
      ...makeCleanup({ database, contents, history, clock, settings }),
    },

    /** Whether there is an administrator. Cached once true: the last one cannot be removed. */
    isSetUp: async (): Promise<boolean> => administered || findAdministrator(),

    /** Whether the cache knows of an administrator. */
    isKnownToBeSetUp: (): boolean => administered,

    /**
     * The fault for users who are not administrators during maintenance: 503 with `message`, `until` and `Retry-After`;
     * undefined if they are not affected. In read-only mode only changes are refused.
     */
    async closedFor(what: { changes: boolean }): Promise<Fault | undefined> {
      const declared = await settings.maintenance()
      return declared && (what.changes || !declared.read_only) ? maintenanceFault(declared, clock.now()) : undefined
    },

    /** Claims the blob store for this instance, whoever owned it before. */
    adoptContents: (): Promise<void> => contents.adopt(identity.server_id),

    /** Throws if the database does not respond. */
    checkDatabase: (): Promise<void> => database.check(),

    damage: () => database.damage(true),

    /** Looks for the bytes of some contents, without reading them. */
    async lookForContents(count: number): Promise<{ looked: number; missing: number }> {
      const sample = await someContents(database.read, randomHex(32), count)
      let missing = 0
      for (const { sha256 } of sample) if (await contents.problemOf(sha256, true)) missing += 1
      return { looked: sample.length, missing }
    },

    /** The clock of the machine that the database is on, epoch ms; undefined for this machine. */
    databaseClock: (): Promise<number | undefined> => database.clock(),

    /** Throws if the blob store does not respond; `Busy` after the time limit. */
    async checkContents(): Promise<void> {
      const answered = new AbortController()
      const silence = sleep(STORE_PATIENCE_MS, answered.signal).then(() => {
        throw new Busy('The store of large files does not answer.')
      })
      await Promise.race([contents.check(), silence]).finally(() => answered.abort())
    },

    /** A pause of the upkeep after which it removes nothing yet, in case the clock is wrong. */
    clockJump: () => unconfirmedJump(database.read),

    /** Unreferenced blobs older than any upload in progress. */
    orphans: (): ReturnType<Contents['orphans']> => contents.orphans(clock.now() - CONTENT_GRACE),

    migrations: () => appliedMigrations(database.read),

    /** Facts about the database engine, for diagnosis. */
    describe: () => database.describe(),
  }
}

const READ_ONLY = 'The service can be read but not changed for the moment.'

function maintenanceFault({ message, until, read_only }: Maintenance, now: number): Fault {
  const retryAfter = until === null ? 300 : Math.max(1, Math.ceil((until - now) / 1_000))
  const text = message || (read_only ? READ_ONLY : undefined)
  const fields = { message, until: until === null ? null : iso(until), ...(read_only && { read_only }) }
  return fault('maintenance', { ...(text !== undefined && { text }), retryAfter, fields })
}

const adminQuery = prepared<Record<string, never>, { id: number }>(({ q }) =>
  q.selectFrom('users').select('id').where('role', '=', 'admin').where('disabled_at', 'is', null).limit(1),
)

export type Instance = ReturnType<typeof makeInstance>
