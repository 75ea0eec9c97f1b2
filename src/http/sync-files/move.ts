import { syncFiles } from '../../contract/sync-files.ts'
import { handle } from '../handler.ts'
import { expectationOf } from './preconditions.ts'

export const move = handle(syncFiles.actions.move, async ({ params, caller, domain, headers }) => {
  const { from, to, if_sha256 } = params
  const { sha256 } = expectationOf(headers, if_sha256 === undefined ? {} : { if_sha256 })
  await domain.files.move(caller.user.id, from, to, { sha256 })
  return { from, to }
})
