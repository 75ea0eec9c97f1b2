import { DAY, type Clock } from '../../base/clock.ts'
import type { DataBound, DataKind } from '../../storage/engine/data-kinds.ts'
import { allDataUsage, dataDriftsOf, repairDataUsage, type DataDrift } from '../../storage/engine/data-usage.ts'
import type { Database, Reader, Writer } from '../../storage/engine/database.ts'
import { countedRows } from '../../storage/engine/synchronised-tables.ts'
import {
  counterMismatches,
  countedUsages,
  setUsedBytes,
  usageSince,
  type CounterMismatch,
  type CountedUsage,
} from '../../storage/accounts/usage.ts'
import { dataBoundsOf } from '../data-bounds.ts'
import { shapes } from '../sync/sync.ts'
import type { Audit, AuditActor } from './audit.ts'
import { options } from './options.ts'
import type { Settings } from './settings.ts'
import { daysUntilFull, growthOf, type Point } from './trend.ts'

export interface AccountUsage extends CountedUsage {
  /** The effective quota in bytes, -1 for unlimited. */
  effective_quota: number
  /** Used share of the quota, rounded down; null without one. */
  percent: number | null
  /** Bytes per day over the last 30 days; null without enough history. */
  growth: number | null
  /** Days until the quota is used up at this growth; null if out of range. */
  full_in_days: number | null
}

const summed = [
  'used_bytes',
  'own_bytes',
  'room_bytes',
  'files',
  'trash_bytes',
  'versions_bytes',
  'rows_bytes',
  'chat_bytes',
  'components_bytes',
  'assistant_bytes',
] as const

type SummedField = (typeof summed)[number]

export interface UsageReport {
  /** By name. */
  accounts: AccountUsage[]
  total: Pick<AccountUsage, SummedField> & {
    growth: number | null
  }
  default_quota: number
}

export interface CountDrift extends CounterMismatch {
  kind: 'files' | DataKind
}

export interface Usage {
  /** Sets the default quota, bytes, -1 for unlimited. Throws `conflict` if the configuration overrides it. */
  setDefault(bytes: number, by?: AuditActor): Promise<void>
  report(): Promise<UsageReport>
  /** Corrects every wrong counter, one transaction per account; returns them. */
  recount(options?: { dryRun?: boolean }): Promise<CountDrift[]>
  /** Usage and limits outside files, by kind; 0 without a limit. */
  keptBy(user: number): Promise<Record<string, { used: number; total: number; items: number; max_items: number }>>
}

interface Parts {
  database: Database
  clock: Clock
  settings: Settings
  audit: Audit
}

const DEFAULT = 'quota.default'

const HISTORY_DAYS = 30

const percentOf = (used: number, quota: number): number | null => {
  if (quota < 0) return null
  return quota === 0 ? 100 : Math.floor((used * 100) / quota)
}

export function makeUsage({ database, clock, settings, audit }: Parts): Usage {
  function judged(held: CountedUsage, noted: readonly Point[], defaultQuota: number, today: number): AccountUsage {
    const { used_bytes: used, quota_bytes } = held
    const quota = quota_bytes ?? defaultQuota
    // The current value replaces the record of an unfinished day.
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
      await settings.assertChangeable(DEFAULT, 'The default quota')
      const detail = { name: DEFAULT, value: options[DEFAULT].kind.show(bytes) }
      await settings.store(DEFAULT, bytes, (tx) => audit.record(tx, { kind: 'setting.changed', ...by, detail }))
    },

    async report() {
      const today = clock.now() / DAY
      const defaultQuota = (await settings.values())[DEFAULT]
      const { held, history } = await database.snapshot(async (at) => ({
        held: await countedUsages(at),
        history: await usageSince(at, Math.floor(today) - HISTORY_DAYS),
      }))
      const noted = new Map<number, Point[]>(held.map(({ user_id }) => [user_id, []]))
      // Recorded at the end of a day.
      for (const { user_id, day, used_bytes } of history) noted.get(user_id)?.push({ day: day + 1, value: used_bytes })
      const accounts = held.map((one) => judged(one, noted.get(one.user_id)!, defaultQuota, today))
      return { accounts, total: totalOf(accounts), default_quota: defaultQuota }
    },

    async recount({ dryRun = false } = {}) {
      const found = await database.snapshot((at) => allDrifts(at))
      if (dryRun) return found
      const repaired: CountDrift[] = []
      for (const user of new Set(found.map(({ user_id }) => user_id)))
        // Count again under the lock, so that concurrent writes are included.
        repaired.push(...(await database.write('instance', (tx) => recountIn(tx, user))))
      return repaired
    },

    async keptBy(user) {
      const bounds: Partial<Record<DataKind, DataBound>> = await dataBoundsOf(settings)()
      const kept = new Map((await allDataUsage(database.read, user)).map((row) => [row.kind, row]))
      return Object.fromEntries(
        Object.entries(bounds).map(([kind, bound]) => {
          const { items = 0, bytes = 0 } = kept.get(kind as DataKind) ?? {}
          const max = { total: Math.max(0, bound.bytes), max_items: Math.max(0, bound.items) }
          return [kind, { used: bytes, items, ...max }]
        }),
      )
    },
  }

  async function recountIn(tx: Writer, user: number): Promise<CountDrift[]> {
    const [files] = await counterMismatches(tx, user)
    if (files) await setUsedBytes(tx, user, files.actual)
    const data = await dataDriftsOf(tx, countedTables, user)
    await repairDataUsage(tx, data)
    const drifts = merged(files ? [files] : [], data)
    for (const { counted, actual, kind } of drifts)
      await audit.record(tx, { kind: 'quota.recounted', about: user, detail: { of: kind, counted, actual } })
    return drifts
  }
}

const countedTables = shapes.map(countedRows)

const merged = (files: readonly CounterMismatch[], data: readonly DataDrift[]): CountDrift[] => [
  ...files.map((drift) => ({ ...drift, kind: 'files' as const })),
  ...data.map(({ user_id, username, kind, counted, bytes }) => ({ user_id, username, kind, counted, actual: bytes })),
]

/** Every wrong counter of an account, of its files and of everything else. */
export const allDrifts = async (at: Reader): Promise<CountDrift[]> =>
  merged(await counterMismatches(at), await dataDriftsOf(at, countedTables))

function totalOf(accounts: readonly AccountUsage[]): UsageReport['total'] {
  const sum = (field: SummedField) => accounts.reduce((total, account) => total + account[field], 0)
  const known = accounts.filter(({ growth }) => growth !== null)
  return {
    ...(Object.fromEntries(summed.map((field) => [field, sum(field)])) as Record<SummedField, number>),
    growth: known.length === 0 ? null : known.reduce((total, { growth }) => total + growth!, 0),
  }
}
