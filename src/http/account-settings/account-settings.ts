import { twoFactorStatus } from './2fa-status.ts'
import { changePassword } from './change-password.ts'
import { devices } from './devices.ts'
import { disable2fa } from './disable-2fa.ts'
import { enable2fa } from './enable-2fa.ts'
import { profile } from './profile.ts'
import { regenerateBackupCodes } from './regenerate-backup-codes.ts'
import { revokeDevice } from './revoke-device.ts'
import { revokeSession } from './revoke-session.ts'
import { securityEvents } from './security-events.ts'
import { sessions } from './sessions.ts'
import { setup2fa } from './setup-2fa.ts'
import { updateProfile } from './update-profile.ts'

export const accountSettingsHandlers = [
  twoFactorStatus,
  setup2fa,
  enable2fa,
  disable2fa,
  regenerateBackupCodes,
  changePassword,
  profile,
  updateProfile,
  sessions,
  revokeSession,
  securityEvents,
  devices,
  revokeDevice,
]
