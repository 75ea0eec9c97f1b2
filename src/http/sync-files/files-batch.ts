import { syncFiles } from '../../contract/sync-files.ts'
import { handle } from '../handler.ts'

export const filesBatch = handle(syncFiles.actions.files_batch, ({ params, caller, domain }) =>
  domain.files.changeAll(caller.user.id, params.operations),
)
