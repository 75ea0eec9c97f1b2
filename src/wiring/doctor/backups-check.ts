import { DAY, iso, isFuture, SECOND } from '../../base/clock.ts'
import { formatDuration } from '../../base/durations.ts'
import { commandLine } from '../../base/shell-words.ts'
import { findingText } from '../../contract/finding-texts.ts'
import { LONG_AGO } from '../../domain/backups/backups.ts'
import { repositoryAt } from '../../storage/backups/repository.ts'
import { idsIn } from '../../storage/backups/stored-manifests.ts'
import type { Local } from '../local-domain.ts'
import { askPlace, storedIds } from '../stored-ids.ts'
import { LATE, streamStatus } from '../backup-stream-status.ts'
import { isInDataDirectory } from '../installation/backup-place.ts'
import { failure, fine, warning, type Check } from './finding.ts'

// Whether the data would survive the loss of the disk.

/** Without a schedule, a backup of this age is a warning. */
const OLD = 7 * DAY

const since = (at: number): string => formatDuration(Date.now() - at)

/** A backup or drill dated later than now: one of two clocks was wrong, so its age is unknown. */
const fromFuture = ({ id, at }: { id: string; at: number }) =>
  failure(findingText('backup_future', { id, time: iso(at) }), findingText('remedy_backup_future'))

/** The time in which a place has to answer, ms. */
const TIMEOUT = 10 * SECOND

/** The last backup, if it is missing in a place that can be read: a disk may be away on purpose. */
async function missingIn(there: string, { domain: { backups } }: Pick<Local, 'domain'>): Promise<string | undefined> {
  const missing = async (place: string) =>
    (await repositoryAt(place)) && (await backups.missingBackup(place, () => idsIn(place)))
  const found = await askPlace(there, missing, { timeout: TIMEOUT })
  return 'answer' in found ? found.answer : undefined
}

/** What a place contains where this installation has no record of a backup: a restored one has none of those made since. */
async function foundIn(place: string) {
  const { ids, problem } = await storedIds(place)
  if (problem !== undefined) return findingText('backup_unreadable', { place, problem: problem.replace(/\.$/, '') })
  const id = ids.at(-1)
  return id === undefined ? findingText('backup_none_there', { place }) : findingText('backup_none_own', { place, id })
}

const backupAge: Check = {
  id: 'backup-age',
  summary: 'there is a recent backup',
  async runChecks(local) {
    const { backups } = local.domain
    const [last, failed, place] = [
      await backups.lastBackup(),
      await backups.lastFailure(),
      await backups.scheduledPlace(),
    ]
    if (place !== undefined && (await backups.isPaused()))
      return warning(findingText('backup_paused'), 'svc backup schedule resume')
    if (failed)
      return failure(
        findingText('backup_failed', { time: since(failed.at), message: failed.message }),
        findingText('remedy_backup_create'),
      )
    if (!last && place !== undefined) {
      const isLate = (await backups.schedule.stateOf((await backups.schedule.lastDue()) ?? Date.now())) === 'overdue'
      const found = await foundIn(place)
      return isLate
        ? failure(findingText('backup_overdue', { found }), findingText('remedy_backup_overdue'))
        : warning(found, 'svc backup create')
    }
    if (!last) return warning(findingText('backup_none'), "svc backup schedule '30 3 * * *' --to DIR")
    const { id, at, place: there } = last
    if ((await missingIn(there, local)) !== undefined)
      return failure(findingText('backup_missing', { id, place: there }), findingText('remedy_backup_missing'))
    const state = await backups.schedule.stateOf(at)
    if (state === 'future') return fromFuture(last)
    const found = findingText('backup_last', { id, place: there, time: since(at) })
    if (state === 'overdue')
      return failure(findingText('backup_overdue', { found }), findingText('remedy_backup_overdue'))
    const isScheduled = (await backups.schedule.next()) !== undefined
    if (isScheduled || Date.now() - last.at < OLD) return fine(found)
    return warning(found, findingText('remedy_backup_schedule'))
  },
}

const backupPlace: Check = {
  id: 'backup-place',
  summary: 'backups are kept outside the data directory',
  async runChecks({ domain: { backups, instance }, directory }) {
    const place = (await instance.settings.values())['backup.to'] || (await backups.lastBackup())?.place
    if (place === undefined) return fine(findingText('backup_nowhere'))
    if (isInDataDirectory(place, directory))
      return warning(findingText('backup_inside', { place }), findingText('remedy_backup_inside'))
    return fine(findingText('backup_outside', { place }))
  },
}

const backupProven: Check = {
  id: 'backup-proven',
  summary: 'a backup was restored as a test',
  async runChecks({ domain: { backups } }) {
    const [proven, last] = [await backups.lastProvenRestore(), await backups.lastBackup()]
    if (!proven && !last) return fine(findingText('drill_impossible'))
    if (!proven) return warning(findingText('drill_none'), 'svc backup drill')
    if (isFuture(proven.at, Date.now())) return fromFuture(proven)
    const found = findingText('drill_last', { id: proven.id, time: since(proven.at) })
    if (Date.now() - proven.at > LONG_AGO) return warning(found, 'svc backup drill')
    if (last === undefined || !(await backups.isPassphraseDue(last.place))) return fine(found)
    return warning(
      findingText('passphrase_untested', { place: last.place }),
      commandLine({}, ['backup', 'passphrase', '--check', '--from', last.place]),
    )
  },
}

const backupStream: Check = {
  id: 'backup-stream',
  summary: 'a stream of changes that was begun goes on',
  async runChecks({ directory }) {
    const status = await streamStatus(directory)
    if (!status) return fine(findingText('stream_none'))
    const { place, problem, at } = status
    const again = commandLine({}, ['backup', 'stream', '--to', place])
    if (!status.isRunning) return failure(findingText('stream_ended', { place }), again)
    // It goes on by itself when the place can be written again.
    if (problem !== null)
      return failure(findingText('stream_failing', { place, message: problem }), 'svc backup stream --status')
    if (at === null) return warning(findingText('stream_begun', { place }), 'svc backup stream --status')
    if (Math.abs(Date.now() - at) > LATE)
      return failure(findingText('stream_late', { place, time: since(at) }), 'svc backup stream --status')
    if (status.missing > 0)
      return warning(findingText('stream_missing', { place, count: String(status.missing) }), 'svc storage check')
    return fine(findingText('stream_current', { place }))
  },
}

export const backupChecks: readonly Check[] = [backupPlace, backupAge, backupProven, backupStream]
