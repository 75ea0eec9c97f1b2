import { putRecord, recordOf } from '../../storage/instance/backup-records.ts'
import type { Settings } from '../instance/instance.ts'
import { makeCreate } from './create.ts'
import type { CreateParts } from './parts.ts'
import { writeAside } from './repeat.ts'
import type { Keep } from './retention.ts'
import { makeSchedule } from './schedule.ts'

interface Parts extends CreateParts {
  settings: Settings
}

/** A backup that was made. */
export interface LastBackup {
  id: string
  /** Epoch ms. */
  at: number
  place: string
  encrypted: boolean
}

/** A backup that could not be made. */
export interface LastFailure {
  at: number
  place: string
  message: string
}

/** A backup that was restored to a place of its own and found complete there. */
export interface ProvenRestore {
  id: string
  at: number
  place: string
}

/** Backups of this installation: making them, when, and what is known of them. What stands elsewhere is read without it. */
export function makeBackups(parts: Parts) {
  const { database, clock, settings, audit } = parts
  return {
    create: makeCreate(parts),
    schedule: makeSchedule(parts),

    lastBackup: (): Promise<LastBackup | undefined> => recordOf(database.read, 'done'),

    /** The last failure, if no backup was made since. */
    async lastFailure(): Promise<LastFailure | undefined> {
      const failure = await recordOf<LastFailure>(database.read, 'failed')
      const done = await recordOf<LastBackup>(database.read, 'done')
      return failure && failure.at > (done?.at ?? -Infinity) ? failure : undefined
    },

    /** Notes a failure that whoever failed could not note. */
    failed: (message: string, place: string): Promise<void> =>
      database.write(async (tx) => {
        await putRecord(tx, 'failed', { at: clock.now(), message, place })
        await audit.record(tx, { kind: 'backup.failed', detail: { message, place } })
      }),

    lastProvenRestore: (): Promise<ProvenRestore | undefined> => recordOf(database.read, 'proven'),

    /** Notes that a backup was restored as a drill, and found complete. */
    proved: (id: string, place: string): Promise<void> =>
      database.write(async (tx) => {
        await putRecord(tx, 'proven', { id, at: clock.now(), place })
        await audit.record(tx, { kind: 'backup.proven', detail: { id, place } })
      }),

    /** Notes that backups were removed. */
    pruned: (ids: readonly string[], place: string): Promise<void> =>
      writeAside(parts, (tx) => audit.record(tx, { kind: 'backup.removed', detail: { ids, place } })),

    /** Notes that a folder of backups has another passphrase. */
    rekeyed: (place: string): Promise<void> =>
      database.write((tx) => audit.record(tx, { kind: 'backup.passphrase', detail: { place } })),

    /** Notes a change of the schedule, which counts from now on. */
    async scheduled(schedule: string, place: string): Promise<void> {
      await database.write(async (tx) => {
        await putRecord(tx, 'attempt', { at: clock.now() })
        await audit.record(tx, { kind: 'backup.schedule', detail: { schedule: schedule || 'off', place } })
      })
    },

    /** How many backups the settings keep. */
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
