import { versions } from '../../contract/versions.ts'
import { fileAnswer } from '../file-answer.ts'
import { handle } from '../handle.ts'

export const download = handle(versions.actions.download, async (call) => {
  const { path, version_id } = call.params
  return fileAnswer(call, path, await call.domain.files.versions.facts(call.caller.user.id, path, version_id))
})
