import { syncFiles } from '../../contract/sync-files.ts'
import { handle } from '../handler.ts'

export const mkdir = handle(syncFiles.actions.mkdir, async ({ params: { path }, caller, domain }) => ({
  path,
  created: await domain.files.makeFolder(caller.user.id, path),
}))
