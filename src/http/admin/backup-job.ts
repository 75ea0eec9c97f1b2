import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { jobView } from './backup-job-view.ts'

export const backupJob = handle(admin.actions.backup_job, async ({ domain }) => {
  const job = await domain.backups.jobs.last()
  return { job: job ? jobView(job) : null }
})
