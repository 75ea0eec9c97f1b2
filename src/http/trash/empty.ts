import { trash } from '../../contract/trash.ts'
import { handle } from '../handler.ts'

export const empty = handle(trash.actions.empty, async ({ caller, domain }) => ({
  deleted: await domain.files.trash.empty(caller.user.id),
}))
