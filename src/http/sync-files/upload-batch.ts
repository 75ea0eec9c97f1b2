import { BadTar, readTar, type TarEntry } from '../../base/tar-reader.ts'
import { formatSize } from '../../base/sizes.ts'
import { badRequest, fault } from '../../contract/errors.ts'
import { UPLOAD_BATCH } from '../../contract/limits.ts'
import { syncFiles } from '../../contract/sync-files.ts'
import type { FileEntry } from '../../domain/files/files.ts'
import { handle } from '../handler.ts'

const MAX = UPLOAD_BATCH.max_bytes

const tooLarge = () => fault('too_large', { text: `An archive may have at most ${formatSize(MAX)}.` })

async function* bounded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > MAX) throw tooLarge()
    yield piece
  }
}

/** Turns errors of the parser into `bad_request`, also in the middle of a file. */
async function* asBadRequest<T>(parse: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* parse
  } catch (error) {
    throw error instanceof BadTar ? fault('bad_request', { text: error.message }) : error
  }
}

const kinds: Record<string, FileEntry['kind']> = { 0: 'file', 5: 'directory' }

/** Reads the body to its very end, beyond the end of the archive, because access is checked there. */
async function* entriesIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const pieces = bounded(body)
  try {
    yield* asBadRequest(readTar({ [Symbol.asyncIterator]: () => ({ next: () => pieces.next() }) }))
    while (!(await pieces.next()).done);
  } finally {
    await pieces.return(undefined)
  }
}

/** A leading slash is optional; folders may have a trailing one. */
async function* entriesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<FileEntry> {
  for await (const { name, type, mtime, keys, body: content } of entriesIn(body)) {
    const path = name.startsWith('/') ? name : `/${name}`
    yield {
      path: type === '5' && path.length > 1 ? path.replace(/\/$/, '') : path,
      kind: kinds[type] ?? 'other',
      mtime,
      sha256: keys.get('SVC.sha256'),
      ifSha256: keys.get('SVC.if_sha256'),
      body: asBadRequest(content),
    }
  }
}

export const uploadBatch = handle(syncFiles.actions.upload_batch, async ({ caller, domain, headers, payload }) => {
  const type = headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase()
  if (type !== 'application/x-tar') {
    throw fault('unsupported_media_type', { text: 'The body must be an archive of type application/x-tar.' })
  }
  if (headers['content-encoding'] !== undefined) throw badRequest('Content-Encoding', 'must not be given')
  if ((payload.length ?? 0) > MAX) throw tooLarge()
  return domain.files.uploadAll(caller.user.id, entriesOf(payload.body))
})
