import { versions } from '../../contract/versions.ts'
import { fileResponse } from '../file-response.ts'
import { handle } from '../handler.ts'

export const download = handle(versions.actions.download, async (call) => {
  const { path, version_id } = call.params
  return fileResponse(call, path, await call.domain.files.versions.facts(call.caller.user.id, path, version_id))
})
