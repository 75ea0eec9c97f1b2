import { Cron } from 'croner'
import { HOUR, isFuture, type Clock } from '../../base/clock.ts'
import { putRecord, recordOf } from '../../storage/instance/backup-records.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Settings } from '../instance/instance.ts'

interface Deps {
  database: Database
  clock: Clock
  settings: Settings
}

/** The first scheduled time after `after`, epoch ms, in this machine's time zone; undefined without a schedule. */
function nextRun(schedule: string, after: number): number | undefined {
  if (schedule === '') return undefined
  return new Cron(schedule, { mode: '5-part', paused: true }).nextRun(new Date(after))?.getTime()
}

export const makeSchedule = ({ database, clock, settings }: Deps) => ({
  /** The next backup, epoch ms; undefined without a schedule, or while it is paused. */
  async next(): Promise<number | undefined> {
    if (await recordOf(database.read, 'paused')) return undefined
    return nextRun((await settings.values())['backup.schedule'], clock.now())
  },

  /**
   * Whether the last backup, of the time `last`, is as expected: `overdue` if the next one is more than an hour late,
   * `future` if it was made under a clock that ran ahead, so that its age is unknown.
   */
  async stateOf(last: number): Promise<'current' | 'overdue' | 'future'> {
    if (isFuture(last, clock.now())) return 'future'
    const due = nextRun((await settings.values())['backup.schedule'], last)
    return due !== undefined && due + HOUR < clock.now() ? 'overdue' : 'current'
  },

  /** When a backup was last due or the schedule was changed, epoch ms. */
  async lastDue(): Promise<number | undefined> {
    return (await recordOf<{ at: number }>(database.read, 'attempt'))?.at
  },

  /**
   * Claims a due backup; of several servers on one database only one gets it. A backup missed while no server ran is made
   * up for once. Undefined if none is due; `release` returns the claim.
   */
  async claim(): Promise<{ release(): Promise<void> } | undefined> {
    const schedule = (await settings.values())['backup.schedule']
    if (schedule === '') return undefined
    return database.write('instance', async (tx) => {
      if (await recordOf(tx, 'paused')) return undefined
      const now = clock.now()
      const last = await recordOf<{ at: number }>(tx, 'attempt')
      // An attempt in the future would stop all backups until then.
      const due = last && (isFuture(last.at, now) ? now : nextRun(schedule, last.at))
      if (last && (due === undefined || due > now)) return undefined
      await putRecord(tx, 'attempt', { at: now })
      return last && { release: () => database.write('instance', (later) => putRecord(later, 'attempt', last)) }
    })
  },
})
