import { syncFiles } from '../../contract/sync-files.ts'
import { handle } from '../handler.ts'
import { expectationOf } from './preconditions.ts'

export const remove = handle(syncFiles.actions.delete, async ({ params, caller, domain, headers }) => {
  const { path, if_sha256, if_empty } = params
  const { sha256 } = expectationOf(headers, if_sha256 === undefined ? {} : { if_sha256 })
  const deleted = await domain.files.remove(caller.user.id, path, { sha256, ifEmpty: if_empty })
  return deleted ? { path, deleted: true as const } : { path, already_deleted: true as const }
})
