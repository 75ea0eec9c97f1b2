import { iso } from '../../base/clock.ts'
import { syncAuth } from '../../contract/sync-auth.ts'
import { handle } from '../handler.ts'

export const validate = handle(syncAuth.actions.validate, ({ caller: { user, device } }) =>
  Promise.resolve({
    user,
    device,
    expires_at: device.expires_at === null ? null : iso(device.expires_at),
  }),
)
