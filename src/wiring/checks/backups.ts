import { DAY } from '../../base/clock.ts'
import { formatDuration } from '../../base/durations.ts'
import { failure, fine, warning, type Check } from './finding.ts'

// Whether a disk that breaks tonight would matter.

/** Without a schedule, a backup this old is worth a warning. */
const OLD = 7 * DAY
/** A drill is worth repeating: programs, disks and people change. */
const LONG_AGO = 90 * DAY

const ago = (at: number): string => `${formatDuration(Date.now() - at)} ago`

const backupAge: Check = {
  id: 'backup-age',
  summary: 'there is a recent backup',
  async look({ domain: { backups } }) {
    const [last, failed] = [await backups.lastBackup(), await backups.lastFailure()]
    if (failed)
      return failure(`the last one failed ${ago(failed.at)}: ${failed.message}`, 'svc backup create tells more')
    if (!last) return warning('none was ever made', "svc backup schedule '30 3 * * *' --to DIR")
    const found = `${last.id} in ${last.place}, ${ago(last.at)}`
    if (await backups.schedule.isOverdue(last.at))
      return failure(`${found}, later than the schedule says`, 'keep svc serve running, or run svc backup create')
    const isScheduled = (await backups.schedule.next()) !== undefined
    if (isScheduled || Date.now() - last.at < OLD) return fine(found)
    return warning(found, "svc backup schedule '30 3 * * *' makes one every night")
  },
}

const backupProven: Check = {
  id: 'backup-proven',
  summary: 'a backup was restored to see whether it can be',
  async look({ domain: { backups } }) {
    const proven = await backups.lastProvenRestore()
    if (!proven && !(await backups.lastBackup())) return fine('there is none that could be')
    if (!proven) return warning('no backup was ever restored as a drill', 'svc backup drill')
    const found = `${proven.id} was restored and served ${ago(proven.at)}`
    return Date.now() - proven.at < LONG_AGO ? fine(found) : warning(found, 'svc backup drill')
  },
}

export const backupChecks: readonly Check[] = [backupAge, backupProven]
