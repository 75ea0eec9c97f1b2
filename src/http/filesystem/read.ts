import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handle.ts'

export const read = handle(filesystem.actions.read, async ({ params: { path }, caller, domain }) => ({
  content: await domain.files.desktop.text(caller.user.id, path),
  path,
}))
