import { BackupJob, BackupsState, confirmErrors, CurrentPassword, Keep, orNull, When } from './admin-shapes.ts'
import { action, none } from './define.ts'
import { Type } from './schema.ts'
import { Ok } from './shapes.ts'

const auth = { session: true, admin: true } as const
const reading = { method: 'GET', auth, limit: 'none' } as const
const changing = { method: 'POST', auth, limit: 'none' } as const

/** Settings that decide when backups are made and removed require the administrator's password again. */
const setting = { ...changing, limit: 'settings_change', cost: 20 } as const
const RetainedCount = Type.Integer({ minimum: 0, maximum: 10_000 })

/** Actions of administrators on backups. They name no folder: an administrator is not an operator of the machine. */
export const backupActions = {
  backups: action({
    ...reading,
    summary: 'Schedule of backups, the last backup, the last one tested by a restore, and the stored ones.',
    params: none,
    result: Type.Object({ ok: Ok, ...BackupsState }),
    errors: [],
    example: {},
  }),
  backup_job: action({
    ...reading,
    summary: 'The last job on the backups that an administrator started in the browser.',
    params: none,
    result: Type.Object({ ok: Ok, job: orNull(BackupJob) }),
    errors: [],
    example: {},
  }),
  start_backup_job: action({
    ...changing,
    limit: 'settings_change',
    summary:
      'Create a backup in the configured folder, check the stored ones, or test a restore. It runs in a process of its own, one at a time; `backup_job` shows its state.',
    params: Type.Object({
      job: Type.Union([Type.Literal('create'), Type.Literal('verify'), Type.Literal('drill')]),
      backup: Type.Optional(
        Type.String({
          pattern: '^\\d{8}-\\d{6}-[0-9a-f]{4}$',
          description: '`id` of a stored backup. Without it: all for `verify`, the newest for `drill`.',
        }),
      ),
      passphrase: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 1_024,
          description: 'Tests the passphrase of encrypted backups. It is neither stored nor logged.',
        }),
      ),
    }),
    result: Type.Object({ ok: Ok, job: BackupJob }),
    errors: ['conflict'],
    example: { job: 'create' },
  }),
  stop_backup_job: action({
    ...changing,
    summary: 'Stop the running job. What a backup has copied is used by the next one.',
    params: none,
    result: Type.Object({ ok: Ok, stopping: Type.Boolean({ description: 'Whether a job was running.' }) }),
    errors: [],
    example: {},
  }),
  set_backup_schedule: action({
    ...setting,
    summary: 'Change when the server makes backups in the configured folder. It also ends a pause since a restore.',
    params: Type.Object({
      schedule: orNull(
        Type.String({ minLength: 1, maxLength: 200 }),
        'Five fields as for cron, in the time zone of the server; null turns scheduled backups off.',
      ),
      current_password: CurrentPassword,
    }),
    result: Type.Object({ ok: Ok, schedule: orNull(Type.String()), next_at: When }),
    errors: ['conflict', ...confirmErrors],
    example: { schedule: '30 3 * * *', current_password: 'analytical engine' },
  }),
  resume_backup_schedule: action({
    ...setting,
    summary: 'Resume a schedule that is paused because this installation was restored from a backup.',
    params: Type.Object({ current_password: CurrentPassword }),
    result: Type.Object({
      ok: Ok,
      resumed: Type.Boolean({ description: 'False if it was not paused.' }),
      next_at: When,
    }),
    errors: confirmErrors,
    example: { current_password: 'analytical engine' },
  }),
  set_backup_retention: action({
    ...setting,
    summary:
      'Change how many backups are kept: the last ones, and the newest of each day, week and month. Others are removed after the next scheduled backup.',
    params: Type.Object({
      last: RetainedCount,
      daily: RetainedCount,
      weekly: RetainedCount,
      monthly: RetainedCount,
      current_password: CurrentPassword,
    }),
    result: Type.Object({ ok: Ok, keep: Keep }),
    errors: ['conflict', ...confirmErrors],
    example: { last: 3, daily: 7, weekly: 4, monthly: 12, current_password: 'analytical engine' },
  }),
}
