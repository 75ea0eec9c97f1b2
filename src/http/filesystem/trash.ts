import { fault } from '../../contract/errors.ts'
import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handler.ts'

export const trash = handle(filesystem.actions.trash, async ({ params: { path }, caller, domain }) => {
  if (!(await domain.files.desktop.remove(caller.user.id, path))) throw fault('not_found')
  return { path }
})
