import { admin } from '../../contract/admin.ts'
import { fault } from '../../contract/errors.ts'
import { auditActorOf } from '../actor.ts'
import { handle } from '../handler.ts'
import type { HostStatus } from '../host-status.ts'
import { jobView } from './backup-job-view.ts'

export const startBackupJob = ({ startBackupJob: start }: HostStatus) =>
  handle(admin.actions.start_backup_job, async (call) => {
    const { job: kind, backup, passphrase } = call.params
    const { backups, instance } = call.domain
    const place = (await instance.settings.values())['backup.to']
    if (place === '')
      throw fault('conflict', { text: 'No folder of backups is configured: svc config set backup.to DIR.' })
    const wanted = { kind, backup, by: call.caller.user.username }
    await start(wanted, { place, passphrase, actor: auditActorOf(call) })
    return { job: jobView((await backups.jobs.last())!) }
  })
