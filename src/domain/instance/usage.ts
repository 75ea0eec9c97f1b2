import { DAY, type Clock } from '../../base/clock.ts'
import type { Database } from '../../storage/database.ts'
import { driftsOf, holdingsOf, setUsedBytes, usageSince, type Drift, type Holdings } from '../../storage/usage.ts'
import { fault } from '../../contract/errors.ts'
import type { Audit, Doer } from './audit.ts'
import { options } from './options.ts'
import type { Settings } from './settings.ts'
import { daysUntilFull, growthOf, type Point } from './trend.ts'

/** What an account holds, may hold, and where that leads. */
export interface AccountUsage extends Holdings {
  /** The quota in force in bytes, -1 for unlimited. */
  effective_quota: number
  /** Used share of the quota, whole and rounded down; null without one. */
  percent: number | null
  /** Bytes a day, over the last 30 days; null without enough history. */
  growth: number | null
  /** Days until the quota is used up at this growth; null where that is not in sight. */
  full_in_days: number | null
}

export interface UsageReport {
  /** By name. */
  accounts: AccountUsage[]
  total: Pick<Holdings, 'used_bytes' | 'own_bytes' | 'room_bytes' | 'files' | 'trash_bytes' | 'versions_bytes'> & {
    growth: number | null
  }
  default_quota: number
}

export interface Usage {
  /** Sets the quota of accounts without their own, bytes, -1 for none. Throws `conflict` where something else decides it. */
  setDefault(bytes: number, by?: Doer): Promise<void>
  /** What every account holds, from one consistent state. */
  report(): Promise<UsageReport>
  /** Puts right every counter that does not say what the rows add up to, each account in a transaction; says which they were. */
  recount(options?: { dryRun?: boolean }): Promise<Drift[]>
}

interface Parts {
  database: Database
  clock: Clock
  settings: Settings
  audit: Audit
}

const DEFAULT = 'quota.default'

/** Days of history that a forecast looks at. */
const LOOK_BACK = 30

const percentOf = (used: number, quota: number): number | null => {
  if (quota < 0) return null
  return quota === 0 ? 100 : Math.floor((used * 100) / quota)
}

export function makeUsage({ database, clock, settings, audit }: Parts): Usage {
  function judged(held: Holdings, noted: readonly Point[], defaultQuota: number, today: number): AccountUsage {
    const { used_bytes: used, quota_bytes } = held
    const quota = quota_bytes ?? defaultQuota
    // What was noted of a day that is not over yet gives way to what holds now.
    const growth = growthOf([...noted.filter(({ day }) => day <= Math.floor(today)), { day: today, value: used }])
    return {
      ...held,
      effective_quota: quota,
      percent: percentOf(used, quota),
      growth: growth === undefined ? null : Math.round(growth),
      full_in_days: quota < 0 ? null : (daysUntilFull(quota - used, growth) ?? null),
    }
  }

  return {
    async setDefault(bytes, by) {
      const where = await settings.decidedIn(DEFAULT)
      if (where)
        throw fault('conflict', { text: `The default quota is set in ${where}, and that wins: change it there.` })
      const detail = { name: DEFAULT, value: options[DEFAULT].kind.show(bytes) }
      await settings.store(DEFAULT, bytes, (tx) => audit.record(tx, { kind: 'setting.changed', ...by, detail }))
    },

    async report() {
      const today = clock.now() / DAY
      const defaultQuota = (await settings.values())[DEFAULT]
      const { held, history } = await database.snapshot(async (at) => ({
        held: await holdingsOf(at),
        history: await usageSince(at, Math.floor(today) - LOOK_BACK),
      }))
      const noted = new Map<number, Point[]>(held.map(({ user_id }) => [user_id, []]))
      // Noted at the end of a day.
      for (const { user_id, day, used_bytes } of history) noted.get(user_id)?.push({ day: day + 1, value: used_bytes })
      const accounts = held.map((one) => judged(one, noted.get(one.user_id)!, defaultQuota, today))
      return { accounts, total: totalOf(accounts), default_quota: defaultQuota }
    },

    async recount({ dryRun = false } = {}) {
      const found = await database.snapshot((at) => driftsOf(at))
      if (dryRun) return found
      const mended: Drift[] = []
      for (const { user_id } of found) {
        // Counted again under the lock: what is written meanwhile must not be undone.
        const drift = await database.write(async (tx) => {
          const [now] = await driftsOf(tx, user_id)
          if (!now) return undefined
          await setUsedBytes(tx, user_id, now.actual)
          const detail = { counted: now.counted, actual: now.actual }
          await audit.record(tx, { kind: 'quota.recounted', about: user_id, detail })
          return now
        })
        if (drift) mended.push(drift)
      }
      return mended
    },
  }
}

function totalOf(accounts: readonly AccountUsage[]): UsageReport['total'] {
  const sum = (field: 'used_bytes' | 'own_bytes' | 'room_bytes' | 'files' | 'trash_bytes' | 'versions_bytes') =>
    accounts.reduce((total, account) => total + account[field], 0)
  const known = accounts.filter(({ growth }) => growth !== null)
  return {
    used_bytes: sum('used_bytes'),
    own_bytes: sum('own_bytes'),
    room_bytes: sum('room_bytes'),
    files: sum('files'),
    trash_bytes: sum('trash_bytes'),
    versions_bytes: sum('versions_bytes'),
    growth: known.length === 0 ? null : known.reduce((total, { growth }) => total + growth!, 0),
  }
}
