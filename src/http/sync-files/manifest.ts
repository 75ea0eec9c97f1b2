import { Readable } from 'node:stream'
import { syncFiles } from '../../contract/sync-files.ts'
import { jsonHeaders } from '../answers.ts'
import { matches } from '../etag.ts'
import { handle } from '../handle.ts'

export const manifest = handle(syncFiles.actions.manifest, async ({ caller, domain, headers, head }) => {
  const { identity } = domain.instance
  // Weak: the cursor inside moves with every row, the files it describes do not.
  const state = await domain.files.treeTag(caller.user.id)
  const tag = `W/"${identity.epoch}-${state}"`
  const answered = { ...jsonHeaders, 'cache-control': 'private, no-cache', etag: tag }
  if (matches(headers['if-none-match'], tag)) return { status: 304, headers: answered, body: undefined }
  if (head) return { status: 200, headers: answered, body: undefined }
  const pieces = await domain.files.manifest(caller.user.id, state, { ...identity })
  const length = String(pieces.reduce((sum, piece) => sum + piece.length, 0))
  return { status: 200, headers: { ...answered, 'content-length': length }, body: Readable.from(pieces) }
})
