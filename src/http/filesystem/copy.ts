import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handler.ts'

export const copy = handle(filesystem.actions.copy, async ({ params: { from, to }, caller, domain }) => {
  await domain.files.desktop.copy(caller.user.id, from, to)
  return { from, to }
})
