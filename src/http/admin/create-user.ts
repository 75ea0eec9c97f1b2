import { admin } from '../../contract/admin.ts'
import { badRequest } from '../../contract/errors.ts'
import { handle } from '../handler.ts'
import { administratorOf, confirmPassword } from '../actor.ts'
import { bytesOf } from './list-page.ts'
import { userView } from './user-view.ts'

export const createUser = handle(admin.actions.create_user, async (call) => {
  const { current_password, quota_bytes, ...given } = call.params
  if (given.role === 'admin') {
    if (current_password === undefined) throw badRequest('current_password', 'is missing')
    await confirmPassword(call, current_password)
  }
  const quota = quota_bytes === undefined ? {} : { quota_bytes: bytesOf(quota_bytes) }
  const { id } = await call.domain.accounts.create({ ...given, ...quota }, undefined, administratorOf(call))
  return { user: await userView(call.domain, id) }
})
