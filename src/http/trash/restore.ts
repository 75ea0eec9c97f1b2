import { trash } from '../../contract/trash.ts'
import { handle } from '../handler.ts'

export const restore = handle(trash.actions.restore, async ({ params: { id, to }, caller, domain }) => ({
  path: await domain.files.trash.restore(caller.user.id, id, to),
}))
