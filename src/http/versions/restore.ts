import { versions } from '../../contract/versions.ts'
import { handle } from '../handler.ts'

export const restore = handle(versions.actions.restore, async ({ params, caller, domain }) => {
  const { path, version_id, if_sha256: sha256 } = params
  return { path, version: await domain.files.versions.restore(caller.user.id, path, version_id, { sha256 }) }
})
