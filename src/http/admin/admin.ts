import type { Handler } from '../handler.ts'
import type { HostStatus } from '../host-status.ts'
import { apps } from './apps.ts'
import { audit } from './audit.ts'
import { backupJob } from './backup-job.ts'
import { backups } from './backups.ts'
import { beginMaintenance } from './begin-maintenance.ts'
import { bypass2fa } from './bypass-2fa.ts'
import { createUser } from './create-user.ts'
import { disableApp } from './disable-app.ts'
import { disableUser } from './disable-user.ts'
import { doctor } from './doctor.ts'
import { enableApp } from './enable-app.ts'
import { enableUser } from './enable-user.ts'
import { endMaintenance } from './end-maintenance.ts'
import { maintenance } from './maintenance.ts'
import { removal } from './removal.ts'
import { removeUser } from './remove-user.ts'
import { reset2fa } from './reset-2fa.ts'
import { resumeBackupSchedule } from './resume-backup-schedule.ts'
import { setBackupRetention } from './set-backup-retention.ts'
import { setBackupSchedule } from './set-backup-schedule.ts'
import { setDefaultQuota } from './set-default-quota.ts'
import { setPassword } from './set-password.ts'
import { setRole } from './set-role.ts'
import { signOut } from './sign-out.ts'
import { startBackupJob } from './start-backup-job.ts'
import { stopBackupJob } from './stop-backup-job.ts'
import { unlockUser } from './unlock-user.ts'
import { updateUser } from './update-user.ts'
import { usage } from './usage.ts'
import { user } from './user.ts'
import { users } from './users.ts'

export const adminHandlers = (machine: HostStatus): Handler[] => [
  users,
  user,
  createUser,
  updateUser,
  setRole,
  setPassword,
  disableUser,
  enableUser,
  unlockUser,
  reset2fa,
  bypass2fa,
  signOut,
  removal,
  removeUser,
  usage(machine),
  setDefaultQuota,
  maintenance,
  beginMaintenance,
  endMaintenance,
  backups(machine),
  backupJob,
  startBackupJob(machine),
  stopBackupJob,
  setBackupSchedule,
  resumeBackupSchedule,
  setBackupRetention,
  doctor(machine),
  audit,
  apps,
  enableApp,
  disableApp,
]
