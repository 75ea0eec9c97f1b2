import { BadTar, readTar, type TarEntry } from '../../base/tar-reader.ts'
import { formatSize } from '../../base/sizes.ts'
import { badRequest, fault } from '../../contract/errors.ts'
import { UPLOAD_BATCH } from '../../contract/limits.ts'
import { syncFiles } from '../../contract/sync-files.ts'
import type { FileEntry } from '../../domain/files/files.ts'
import { handle } from '../handle.ts'

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

/** Tells the caller what is wrong with their archive, also when it turns out in the middle of a file. */
async function* understood<T>(parse: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* parse
  } catch (error) {
    throw error instanceof BadTar ? fault('bad_request', { text: error.message }) : error
  }
}

const kinds: Record<string, FileEntry['kind']> = { 0: 'file', 5: 'directory' }

/**
 * An archive whose body is read to its very end, also behind the end of the archive: only there it is known whether its
 * sender may still store something.
 */
async function* entriesIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const pieces = bounded(body)
  try {
    yield* understood(readTar({ [Symbol.asyncIterator]: () => ({ next: () => pieces.next() }) }))
    while (!(await pieces.next()).done);
  } finally {
    await pieces.return(undefined)
  }
}

/** Names are absolute with or without the slash in front; folders may have one behind. */
async function* entriesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<FileEntry> {
  for await (const { name, type, mtime, keys, body: content } of entriesIn(body)) {
    const path = name.startsWith('/') ? name : `/${name}`
    yield {
      path: type === '5' && path.length > 1 ? path.replace(/\/$/, '') : path,
      kind: kinds[type] ?? 'other',
      mtime,
      sha256: keys.get('SVC.sha256'),
      ifSha256: keys.get('SVC.if_sha256'),
      body: understood(content),
    }
  }
}

export const uploadBatch = handle(syncFiles.actions.upload_batch, async ({ caller, domain, headers, incoming }) => {
  const type = headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase()
  if (type !== 'application/x-tar') {
    throw fault('unsupported_media_type', { text: 'The body must be an archive of type application/x-tar.' })
  }
  if (headers['content-encoding'] !== undefined) throw badRequest('Content-Encoding', 'must not be given')
  if ((incoming.length ?? 0) > MAX) throw tooLarge()
  return domain.files.uploadAll(caller.user.id, entriesOf(incoming.body))
})
