import { fault } from '../../contract/errors.ts'
import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handler.ts'

export const erase = handle(filesystem.actions.delete, async ({ params: { path }, caller, domain }) => {
  if (!(await domain.files.desktop.erase(caller.user.id, path))) throw fault('not_found')
  return { path }
})
