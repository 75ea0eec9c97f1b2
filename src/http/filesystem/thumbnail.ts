import { filesystem } from '../../contract/filesystem.ts'
import { matchesEtag } from '../etag.ts'
import { downloadHeaders } from '../file-response.ts'
import { handle } from '../handler.ts'

export const thumbnail = handle(filesystem.actions.thumbnail, async ({ params, caller, domain, headers, head }) => {
  const { path, size, tag } = params
  const facts = await domain.files.desktop.facts(caller.user.id, path)
  const isCurrent = tag === domain.thumbnails.tagOf(facts.sha256)
  const etag = `"${facts.sha256}-${size}"`
  const sent = {
    ...downloadHeaders,
    'content-type': 'image/webp',
    'cache-control': isCurrent ? 'private, max-age=31536000, immutable' : 'private, no-cache',
    etag,
  }
  if (matchesEtag(headers['if-none-match'], etag)) return { status: 304, headers: sent, body: undefined }
  const body = await domain.thumbnails.of(caller.user.id, facts, size)
  return { status: 200, headers: { ...sent, 'content-length': String(body.length) }, body: head ? undefined : body }
})
