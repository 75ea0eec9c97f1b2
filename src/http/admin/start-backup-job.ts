import { admin } from '../../contract/admin.ts'
import { fault } from '../../contract/errors.ts'
import { auditActorOf } from '../actor.ts'
import { noPlace } from '../../domain/backups/backup-settings.ts'
import { handle } from '../handler.ts'
import type { HostStatus } from '../host-status.ts'
import { jobView } from './backup-job-view.ts'

export const startBackupJob = ({ startBackupJob: start }: HostStatus) =>
  handle(admin.actions.start_backup_job, async (call) => {
    const { job: kind, backup, passphrase } = call.params
    const { backups, instance } = call.domain
    if (kind === 'create' && (backup !== undefined || passphrase !== undefined))
      throw fault('bad_request', { text: '"backup" and "passphrase" are for "verify" and "drill" only.' })
    const { 'backup.to': place, 'backup.schedule': schedule } = await instance.settings.values()
    const origin = schedule === '' ? await instance.settings.decidedIn('backup.schedule') : undefined
    if (origin !== undefined)
      throw fault('conflict', {
        text: `This server has no access to the folder of backups: ${origin} turns off its schedule. Use another server.`,
      })
    if (place === '') throw noPlace()
    const request = { kind, backup, by: call.caller.user.username }
    await start(request, { place, passphrase, actor: auditActorOf(call) })
    return { job: jobView((await backups.jobs.last())!) }
  })
