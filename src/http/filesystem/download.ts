import { filesystem } from '../../contract/filesystem.ts'
import { fileAnswer } from '../file-answer.ts'
import { handle } from '../handle.ts'

export const download = handle(filesystem.actions.download, async (call) => {
  const { path } = call.params
  return fileAnswer(call, path, await call.domain.files.desktop.facts(call.caller.user.id, path))
})
