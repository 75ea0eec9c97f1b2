import { Readable } from 'node:stream'
import { syncFiles } from '../../contract/sync-files.ts'
import { jsonHeaders } from '../responses.ts'
import { matchesEtag } from '../etag.ts'
import { handle } from '../handler.ts'

export const manifest = handle(syncFiles.actions.manifest, async ({ caller, domain, headers, head }) => {
  const { identity } = domain.instance
  // Weak: the body contains the cursor, which moves with every row; the tag covers the files only.
  const state = await domain.files.treeTag(caller.user.id)
  const tag = `W/"${identity.epoch}-${state}"`
  const answered = { ...jsonHeaders, 'cache-control': 'private, no-cache', etag: tag }
  if (matchesEtag(headers['if-none-match'], tag)) return { status: 304, headers: answered, body: undefined }
  if (head) return { status: 200, headers: answered, body: undefined }
  const pieces = await domain.files.manifest(caller.user.id, state, { ...identity })
  const length = String(pieces.reduce((sum, piece) => sum + piece.length, 0))
  return { status: 200, headers: { ...answered, 'content-length': length }, body: Readable.from(pieces) }
})
