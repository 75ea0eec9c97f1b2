import { trash } from '../../contract/trash.ts'
import { handle } from '../handler.ts'

export const list = handle(trash.actions.list, async ({ caller, domain }) => ({
  items: await domain.files.trash.list(caller.user.id),
}))
