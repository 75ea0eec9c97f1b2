import { syncFiles } from '../../contract/sync-files.ts'
import { fileAnswer } from '../file-answer.ts'
import { handle } from '../handle.ts'

export const download = handle(syncFiles.actions.download, async (call) => {
  const { path } = call.params
  return fileAnswer(call, path, await call.domain.files.facts(call.caller.user.id, path))
})
