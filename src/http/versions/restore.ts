import { versions } from '../../contract/versions.ts'
import { handle } from '../handle.ts'

export const restore = handle(versions.actions.restore, async ({ params: { path, version_id }, caller, domain }) => ({
  path,
  version: await domain.files.versions.restore(caller.user.id, path, version_id),
}))
