import { filesystem } from '../../contract/filesystem.ts'
import { handle } from '../handler.ts'

export const move = handle(filesystem.actions.move, async ({ params: { from, to }, caller, domain }) => {
  await domain.files.desktop.move(caller.user.id, from, to)
  return { from, to }
})
