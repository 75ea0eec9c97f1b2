import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { zipLength, zipOf } from '../../base/zip-writer.ts'
import { fault } from '../../contract/errors.ts'
import { filesystem } from '../../contract/filesystem.ts'
import { ARCHIVE } from '../../contract/limits.ts'
import { contentDisposition, downloadHeaders } from '../file-response.ts'
import { handle } from '../handler.ts'
import { coalesceWrites } from '../coalesced-writes.ts'

const ROOT = 'Files'

/** IDs of the chosen items. Fault `too_many_operations`. */
function idsOf(text: string): ReadonlySet<number> {
  const ids = new Set(text.split('.').map(Number))
  if (ids.size <= ARCHIVE.max_chosen) return ids
  const max = `At most ${ARCHIVE.max_chosen} items of a folder can be chosen for an archive.`
  throw fault('too_many_operations', { text: `${max} Ask for the folder as a whole.` })
}

const nameOf = (folder: string, chosen: number | undefined): string =>
  chosen === undefined ? folder : `${folder} (${chosen} ${chosen === 1 ? 'item' : 'items'})`

export const archive = handle(filesystem.actions.archive, async ({ params, caller, domain, head }) => {
  const ids = params.ids === undefined ? undefined : idsOf(params.ids)
  const { folder, entries } = await domain.files.desktop.pack(caller.user.id, params.path, ids)
  const read = async ({ sha256 }: { sha256: string | null }) => {
    const content = await domain.files.read(sha256!)
    return Buffer.isBuffer(content) ? [content] : (content as AsyncIterable<Uint8Array>)
  }
  const headers = {
    ...downloadHeaders,
    'content-type': 'application/zip',
    'content-length': String(zipLength(entries)),
    'content-disposition': contentDisposition(`${nameOf(folder || ROOT, ids?.size)}.zip`),
    'cache-control': 'private, no-store',
  }
  const body = head ? undefined : Readable.from(coalesceWrites(zipOf(entries, read, crc32)), { objectMode: false })
  return { status: 200, headers, body }
})
