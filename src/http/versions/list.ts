import { versions } from '../../contract/versions.ts'
import { handle } from '../handler.ts'

export const list = handle(versions.actions.list, async ({ params: { path }, caller, domain }) => ({
  path,
  versions: await domain.files.versions.list(caller.user.id, path),
}))
