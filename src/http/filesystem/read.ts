import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handler.ts'

export const read = handle(filesystem.actions.read, async ({ params: { path }, caller, domain }) => {
  const { content, sha256 } = await domain.files.desktop.hashedText(caller.user.id, path)
  return { content, path, sha256 }
})
