import { syncFiles } from '../../contract/sync-files.ts'
import { fileResponse } from '../file-response.ts'
import { handle } from '../handler.ts'

export const download = handle(syncFiles.actions.download, async (call) => {
  const { path } = call.params
  return fileResponse(call, path, await call.domain.files.facts(call.caller.user.id, path))
})
