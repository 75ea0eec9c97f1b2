import { iso, isoOrNull } from '../../base/clock.ts'
import { admin } from '../../contract/admin.ts'
import { documentOf } from '../../domain/accounts/user-document.ts'
import { handle } from '../handler.ts'

export const user = handle(admin.actions.user, async ({ params: { user_id }, domain: { accounts } }) => {
  const factor = await accounts.twoFactor.status(user_id)
  const [details, sessions, devices] = await Promise.all([
    accounts.details(factor.username),
    accounts.sessions.list(user_id),
    accounts.devices(user_id),
  ])
  return {
    user: {
      ...documentOf(details),
      room_count: details.rooms,
      two_factor_since: isoOrNull(factor.enabled_at),
      backup_codes_left: factor.backup_codes_left,
      bypass_until: isoOrNull(factor.bypass_until),
      sessions: sessions.map(({ created_at, last_used_at, ip, user_agent }) => ({
        created_at: iso(created_at),
        last_used_at: iso(last_used_at),
        ip,
        user_agent,
      })),
      devices: devices.map(({ device_id, device_name, created_at, last_used_at, last_ip }) => ({
        device_id,
        device_name,
        created_at: iso(created_at),
        last_used_at: isoOrNull(last_used_at),
        last_ip,
      })),
    },
  }
})
