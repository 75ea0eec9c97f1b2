import { putRecord, recordOf } from '../../storage/instance/backup-records.ts'
import type { Settings } from '../instance/instance.ts'
import { makeCreate } from './creation.ts'
import type { BackupContext } from './backup-context.ts'
import { writeUnseen } from './unchanged-backup.ts'
import type { Keep } from './retention.ts'
import { makeSchedule } from './schedule.ts'

interface Deps extends BackupContext {
  settings: Settings
}

export interface LastBackup {
  id: string
  /** Epoch ms. */
  at: number
  place: string
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

/** Backups of this instance: creation, schedule and history. Existing backups are read without it. */
export function makeBackups(deps: Deps) {
  const { database, clock, settings, audit } = deps
  return {
    create: makeCreate(deps),
    schedule: makeSchedule(deps),

    lastBackup: (): Promise<LastBackup | undefined> => recordOf(database.read, 'done'),

    /** The last failure, unless a backup succeeded since. */
    lastFailure: (): Promise<LastFailure | undefined> => recordOf(database.read, 'failed'),

    /** Records a failure that the failing process could not record. */
    failed: (message: string, place: string): Promise<void> =>
      database.write('instance', async (tx) => {
        await putRecord(tx, 'failed', { at: clock.now(), message, place })
        await audit.record(tx, { kind: 'backup.failed', detail: { message, place } })
      }),

    lastProvenRestore: (): Promise<ProvenRestore | undefined> => recordOf(database.read, 'proven'),

    /** Records a successful restore drill. */
    proved: (id: string, place: string): Promise<void> =>
      database.write('instance', async (tx) => {
        await putRecord(tx, 'proven', { id, at: clock.now(), place })
        await audit.record(tx, { kind: 'backup.proven', detail: { id, place } })
      }),

    pruned: (ids: readonly string[], place: string): Promise<void> =>
      writeUnseen(deps, (tx) => audit.record(tx, { kind: 'backup.removed', detail: { ids, place } })),

    /** Records a changed passphrase. */
    rekeyed: (place: string): Promise<void> =>
      database.write('instance', (tx) => audit.record(tx, { kind: 'backup.passphrase', detail: { place } })),

    /** Records a changed schedule, which applies from now on. */
    async scheduled(schedule: string, place: string): Promise<void> {
      await database.write('instance', async (tx) => {
        await putRecord(tx, 'attempt', { at: clock.now() })
        await audit.record(tx, { kind: 'backup.schedule', detail: { schedule: schedule || 'off', place } })
      })
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
