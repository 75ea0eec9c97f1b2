import { iso, isoOrNull } from '../../base/clock.ts'
import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import type { HostStatus } from '../host-status.ts'

const MAX_LISTED = 50

const backupView = (backup: { id: string; at: number; place: string } | undefined) =>
  backup ? { id: backup.id, at: iso(backup.at), place: backup.place } : null

export const backups = ({ storedBackups, backupStream }: HostStatus) =>
  handle(admin.actions.backups, async ({ domain: { backups: known, instance } }) => {
    const { 'backup.schedule': schedule, 'backup.to': place } = await instance.settings.values()
    const [next, last, failed] = await Promise.all([known.schedule.next(), known.lastBackup(), known.lastFailure()])
    const [proven, keep, stored] = await Promise.all([
      known.lastProvenRestore(),
      known.keep(),
      storedBackups(MAX_LISTED),
    ])
    const [isPaused, stream, fixed] = await Promise.all([known.isPaused(), backupStream(), known.settings.fixed()])
    const state = last && (await known.schedule.stateOf(last.at))
    return {
      schedule: schedule || null,
      place: place || null,
      paused: schedule !== '' && isPaused,
      next_at: isoOrNull(next),
      overdue: state === 'overdue',
      in_future: state === 'future',
      last: backupView(last),
      failed: failed ? { at: iso(failed.at), place: failed.place, message: failed.message } : null,
      proven: backupView(proven),
      keep,
      fixed,
      stored: stored.newest,
      stored_count: stored.count,
      trouble: stored.error ?? null,
      stream: stream
        ? { place: stream.place, at: isoOrNull(stream.at), running: stream.isRunning, problem: stream.problem }
        : null,
    }
  })
