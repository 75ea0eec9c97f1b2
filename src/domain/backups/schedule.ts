import { Cron } from 'croner'
import { HOUR, type Clock } from '../../base/clock.ts'
import { putRecord, recordOf } from '../../storage/instance/backup-records.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Settings } from '../instance/instance.ts'

interface Parts {
  database: Database
  clock: Clock
  settings: Settings
}

/** The first moment after another at which a schedule comes, epoch ms, in the zone of this machine; undefined without one. */
function nextRun(schedule: string, after: number): number | undefined {
  if (schedule === '') return undefined
  return new Cron(schedule, { mode: '5-part', paused: true }).nextRun(new Date(after))?.getTime()
}

/** When backups are made without anybody asking for them. */
export const makeSchedule = ({ database, clock, settings }: Parts) => ({
  /** The next backup, epoch ms; undefined when there is no schedule. */
  async next(): Promise<number | undefined> {
    return nextRun((await settings.values())['backup.schedule'], clock.now())
  },

  /** Whether a backup made at `last` should have been followed by another an hour ago or longer. */
  async isOverdue(last: number): Promise<boolean> {
    const due = nextRun((await settings.values())['backup.schedule'], last)
    return due !== undefined && due + HOUR < clock.now()
  },

  /**
   * A backup that is due and falls to the caller: of several servers on one database only one gets it. One that came while
   * no server ran is made up for, once. Undefined when none is due; `giveBack` leaves it to whoever asks next.
   */
  async claim(): Promise<{ giveBack(): Promise<void> } | undefined> {
    const schedule = (await settings.values())['backup.schedule']
    if (schedule === '') return undefined
    return database.write(async (tx) => {
      const now = clock.now()
      const last = await recordOf<{ at: number }>(tx, 'attempt')
      const due = last && nextRun(schedule, last.at)
      if (last && (due === undefined || due > now)) return undefined
      await putRecord(tx, 'attempt', { at: now })
      return last && { giveBack: () => database.write((later) => putRecord(later, 'attempt', last)) }
    })
  },
})
