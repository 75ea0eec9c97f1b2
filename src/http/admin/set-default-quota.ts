import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { auditActorOf } from '../actor.ts'
import { bytesOf } from './list-page.ts'

export const setDefaultQuota = handle(admin.actions.set_default_quota, async (call) => {
  const { quota_bytes } = call.params
  await call.domain.instance.usage.setDefault(bytesOf(quota_bytes), auditActorOf(call))
  return { default_quota_bytes: quota_bytes }
})
