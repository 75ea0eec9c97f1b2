import { fault } from '../../contract/errors.ts'
import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handler.ts'

export const mkdir = handle(filesystem.actions.mkdir, async ({ params: { path }, caller, domain }) => {
  if (!(await domain.files.desktop.makeFolder(caller.user.id, path))) throw fault('exists')
  return { path }
})
