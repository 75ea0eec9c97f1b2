import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handle.ts'

export const list = handle(filesystem.actions.list, async ({ params: { path = '/' }, caller, domain }) => ({
  items: await domain.files.desktop.list(caller.user.id, path),
  path,
}))
