import { admin } from '../../contract/admin.ts'
import { badRequest } from '../../contract/errors.ts'
import { handle } from '../handler.ts'
import { administratorOf } from '../actor.ts'
import { bytesOf } from './list-page.ts'
import { userView } from './user-view.ts'

export const updateUser = handle(admin.actions.update_user, async (call) => {
  const { user_id, display_name, quota_bytes, quota_is_default } = call.params
  if (quota_bytes !== undefined && quota_is_default === true)
    throw badRequest('quota_is_default', 'contradicts quota_bytes')
  const quota = quota_is_default === true ? null : quota_bytes === undefined ? undefined : bytesOf(quota_bytes)
  const changes = {
    ...(display_name !== undefined && { display_name }),
    ...(quota !== undefined && { quota_bytes: quota }),
  }
  if (Object.keys(changes).length === 0) throw badRequest('display_name', 'is missing, or a quota')
  await call.domain.accounts.update(user_id, changes, administratorOf(call))
  return { user: await userView(call.domain, user_id) }
})
