import { BackupJob, BackupsState, orNull } from './admin-shapes.ts'
import { action, none } from './define.ts'
import { Type } from './schema.ts'
import { Ok } from './shapes.ts'

const auth = { session: true, admin: true } as const
const reading = { method: 'GET', auth, limit: 'none' } as const
const changing = { method: 'POST', auth, limit: 'none' } as const

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
}
