import { filesystem } from '../../contract/filesystem.ts'
import { fileResponse } from '../file-response.ts'
import { handle } from '../handler.ts'

export const download = handle(filesystem.actions.download, async (call) => {
  const { path } = call.params
  return fileResponse(call, path, await call.domain.files.desktop.facts(call.caller.user.id, path))
})
