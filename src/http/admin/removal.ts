import { admin } from '../../contract/admin.ts'
import { handle } from '../handle.ts'
import { heirView } from './heir.ts'

export const removal = handle(admin.actions.removal, async ({ params: { user_id, files_to }, domain }) => {
  const { has, hands_over } = await domain.accounts.planRemoval(user_id, files_to)
  return { has, hands_over: await heirView(domain, files_to, hands_over) }
})
