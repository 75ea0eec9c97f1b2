import type { Clock } from '../../base/clock.ts'
import { badRequest, fault } from '../../contract/errors.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import { putRecord, recordOf } from '../../storage/instance/backup-records.ts'
import { options, type Audit, type AuditActor, type OptionName, type Settings } from '../instance/instance.ts'
import type { Keep } from './retention.ts'

const SCHEDULE = 'backup.schedule'
const KEEP = {
  last: 'backup.keep_last',
  daily: 'backup.keep_daily',
  weekly: 'backup.keep_weekly',
  monthly: 'backup.keep_monthly',
} as const satisfies Record<keyof Keep, OptionName>
const rules = Object.keys(KEEP) as (keyof Keep)[]

interface Deps {
  database: Database
  clock: Clock
  settings: Settings
  audit: Audit
}

export const noPlace = () =>
  fault('conflict', { text: 'No folder of backups is configured: svc config set backup.to DIR.' })

function parseSchedule(text: string): string {
  try {
    return options[SCHEDULE].kind.parse(text)
  } catch (error) {
    throw badRequest('schedule', (error as Error).message)
  }
}

/** Lets a changed or resumed schedule apply from now on, in the transaction of its change. */
export async function beginSchedule(
  { clock, audit }: Pick<Deps, 'clock' | 'audit'>,
  tx: Writer,
  { schedule, place, actor }: { schedule: string; place: string; actor?: AuditActor },
): Promise<void> {
  await putRecord(tx, 'attempt', { at: clock.now() })
  await putRecord(tx, 'paused', undefined)
  await audit.record(tx, { kind: 'backup.schedule', ...actor, detail: { schedule: schedule || 'off', place } })
}

/** Settings of backups that administrators change in the browser. The place is not among them. */
export function makeBackupSettings(deps: Deps) {
  const { database, settings, audit } = deps
  return {
    /** The settings that are fixed outside the database. */
    fixed: () => settings.fixed([SCHEDULE, ...Object.values(KEEP)]),

    /**
     * Changes the schedule; empty or `off` for none. Also ends its pause. Returns the schedule as it is stored. Faults:
     * `bad_request`, `conflict`.
     */
    async reschedule(text: string, actor: AuditActor): Promise<string> {
      const schedule = parseSchedule(text)
      await settings.assertChangeable(SCHEDULE)
      const { 'backup.to': place } = await settings.values()
      if (schedule !== '' && place === '') throw noPlace()
      await settings.store(SCHEDULE, schedule, (tx) => beginSchedule(deps, tx, { schedule, place, actor }))
      return schedule
    },

    /** Goes on with a schedule that is paused since a restore; false if it is not paused. */
    async resume(actor: AuditActor): Promise<boolean> {
      const { 'backup.schedule': schedule, 'backup.to': place } = await settings.values()
      return database.write('instance', async (tx) => {
        if ((await recordOf(tx, 'paused')) === undefined) return false
        await beginSchedule(deps, tx, { schedule, place, actor })
        return true
      })
    },

    /** Changes how many backups are kept. Fault: `conflict` if one is fixed and differs. */
    async retain(keep: Keep, actor: AuditActor): Promise<void> {
      const values = await settings.values()
      const changed = rules.filter((rule) => values[KEEP[rule]] !== keep[rule])
      for (const rule of changed) await settings.assertChangeable(KEEP[rule])
      const changes = changed.map((rule) => [KEEP[rule], keep[rule]] as const)
      if (changes.length === 0) return
      const detail = Object.fromEntries(changed.map((rule) => [`keep_${rule}`, keep[rule]]))
      await settings.storeSeveral(changes, (tx) => audit.record(tx, { kind: 'backup.retention', ...actor, detail }))
    },
  }
}
