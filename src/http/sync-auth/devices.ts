import { iso } from '../../base/clock.ts'
import { syncAuth } from '../../contract/sync-auth.ts'
import { handle } from '../handler.ts'

export const devices = handle(syncAuth.actions.devices, async ({ caller, domain }) => ({
  devices: (await domain.accounts.devices(caller.user.id)).map((device) => ({
    ...device,
    created_at: iso(device.created_at),
    last_used_at: device.last_used_at === null ? null : iso(device.last_used_at),
    current: device.token_id === caller.device.token_id,
  })),
}))
