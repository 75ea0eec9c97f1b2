import { DAY } from '../../base/clock.ts'
import { repositoryName } from '../../storage/backups/repository-path.ts'
import { putRecord, recordOf, releaseBackups, type StoredBackup } from '../../storage/instance/backup-records.ts'
import type { Settings } from '../instance/instance.ts'
import { makeBackupJobs } from './backup-jobs.ts'
import { beginSchedule, makeBackupSettings } from './backup-settings.ts'
import { makeCreate } from './creation.ts'
import type { BackupContext } from './backup-context.ts'
import { writeUnseen } from './unchanged-backup.ts'
import type { Keep } from './retention.ts'
import { makeSchedule } from './schedule.ts'

interface Deps extends BackupContext {
  settings: Settings
}

export interface LastBackup extends StoredBackup {
  /** Epoch ms. */
  at: number
  encrypted: boolean
}

export interface LastFailure {
  at: number
  place: string
  message: string
}

/** A backup whose restore into a scratch directory was verified. */
export interface ProvenRestore {
  id: string
  at: number
  place: string
}

/** What people have to do needs repeating at this age: programs, disks and people change. */
export const LONG_AGO = 90 * DAY

/** Backups of this instance: creation, schedule and history. Existing backups are read without it. */
export function makeBackups(deps: Deps) {
  const { database, clock, settings, audit } = deps

  /** Where scheduled backups go; undefined without a schedule. */
  async function scheduledPlace(): Promise<string | undefined> {
    const { 'backup.schedule': schedule, 'backup.to': to } = await settings.values()
    return schedule === '' || to === '' ? undefined : repositoryName(to)
  }

  async function lastBackupIn(place: string): Promise<LastBackup | undefined> {
    for (const kind of ['done', 'scheduled'] as const) {
      const last = await recordOf<LastBackup>(database.read, kind)
      if (last?.place === place) return last
    }
    return undefined
  }

  return {
    create: makeCreate(deps, scheduledPlace),
    schedule: makeSchedule(deps),
    jobs: makeBackupJobs(deps),
    settings: makeBackupSettings(deps),
    scheduledPlace,
    lastBackupIn,

    /** The last backup of a place, if it should be among those that are there and is not: somebody removed it without a command. */
    async missingBackup(place: string, ids: () => Promise<string[]>): Promise<string | undefined> {
      const last = await lastBackupIn(place)
      return !last || last.may_be_gone || (await ids()).includes(last.id) ? undefined : last.id
    },

    /** The last backup in the scheduled place; without a schedule, anywhere. */
    async lastBackup(): Promise<LastBackup | undefined> {
      const place = await scheduledPlace()
      return place === undefined ? recordOf(database.read, 'done') : lastBackupIn(place)
    },

    /** The last failure there, unless a backup succeeded since. */
    async lastFailure(): Promise<LastFailure | undefined> {
      const [failed, place] = [await recordOf<LastFailure>(database.read, 'failed'), await scheduledPlace()]
      return failed && (place === undefined || failed.place === place) ? failed : undefined
    },

    /** Records that no backup was created in a place, which is given as a setting has it. Beside the scheduled place, none counts. */
    async failed(message: string, to: string): Promise<void> {
      const place = repositoryName(to)
      const scheduled = await scheduledPlace()
      await database.write('instance', async (tx) => {
        if (place === (scheduled ?? place)) await putRecord(tx, 'failed', { at: clock.now(), message, place })
        await audit.record(tx, { kind: 'backup.failed', detail: { message, place } })
      })
    },

    lastProvenRestore: (): Promise<ProvenRestore | undefined> => recordOf(database.read, 'proven'),

    /** Records a successful restore drill. */
    proved: (id: string, place: string): Promise<void> =>
      database.write('instance', async (tx) => {
        await putRecord(tx, 'proven', { id, at: clock.now(), place })
        await audit.record(tx, { kind: 'backup.proven', detail: { id, place } })
      }),

    passphraseGiven: (place: string): Promise<void> =>
      writeUnseen(deps, (tx) => putRecord(tx, 'passphrase', { at: clock.now(), place })),

    /** Whether the last backups of a place are encrypted, and nobody gave their passphrase for a quarter. */
    async isPassphraseDue(place: string): Promise<boolean> {
      if (!(await lastBackupIn(place))?.encrypted) return false
      const given = await recordOf<{ at: number; place: string }>(database.read, 'passphrase')
      return given?.place !== place || Math.abs(clock.now() - given.at) > LONG_AGO
    },

    pruned: (ids: readonly string[], place: string): Promise<void> =>
      writeUnseen(deps, async (tx) => {
        await releaseBackups(tx, (last) => last.place === place && ids.includes(last.id))
        await audit.record(tx, { kind: 'backup.removed', detail: { ids, place } })
      }),

    rekeyed: (place: string): Promise<void> =>
      database.write('instance', async (tx) => {
        await putRecord(tx, 'passphrase', { at: clock.now(), place })
        await audit.record(tx, { kind: 'backup.passphrase', detail: { place } })
      }),

    /** Whether scheduled backups are paused because this installation was restored. */
    isPaused: async (): Promise<boolean> => (await recordOf(database.read, 'paused')) !== undefined,

    /** Records a changed or resumed schedule, which applies from now on. */
    async scheduled(schedule: string, place: string): Promise<void> {
      await database.write('instance', (tx) => beginSchedule(deps, tx, { schedule, place }))
    },

    /** The configured retention. */
    async keep(): Promise<Keep> {
      const values = await settings.values()
      return {
        last: values['backup.keep_last'],
        daily: values['backup.keep_daily'],
        weekly: values['backup.keep_weekly'],
        monthly: values['backup.keep_monthly'],
      }
    },
  }
}

export type Backups = ReturnType<typeof makeBackups>
