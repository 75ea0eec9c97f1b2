import { trash } from '../../contract/trash.ts'
import { handle } from '../handler.ts'

export const remove = handle(trash.actions.delete, async ({ params: { id }, caller, domain }) => {
  await domain.files.trash.remove(caller.user.id, id)
  return {}
})
