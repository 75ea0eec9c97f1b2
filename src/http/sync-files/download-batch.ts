import { Readable } from 'node:stream'
import { tarEnd, tarHeader, tarPadding } from '../../base/tar-writer.ts'
import { fault, isFault, type ErrorCode } from '../../contract/errors.ts'
import { DOWNLOAD_BATCH } from '../../contract/limits.ts'
import { syncFiles } from '../../contract/sync-files.ts'
import type { Files } from '../../domain/files/files.ts'
import { handle } from '../handler.ts'
import { coalesceWrites } from '../coalesced-writes.ts'

interface Refused {
  path: string
  code: ErrorCode
}

async function* fileIn(files: Files, user: number, path: string): AsyncGenerator<Uint8Array> {
  const { sha256, size, mtime } = await files.facts(user, path)
  const content = await files.read(sha256)
  yield tarHeader({ name: path.slice(1), size, mtime, keys: { 'SVC.sha256': sha256 } })
  if (Buffer.isBuffer(content)) yield content
  else yield* content as AsyncIterable<Uint8Array>
  yield tarPadding(size)
}

/** Yields the archive. A content that cannot be read ends it without its last entry. */
async function* archive(files: Files, user: number, paths: string[]): AsyncGenerator<Uint8Array> {
  const errors: Refused[] = []
  for (const path of paths) {
    try {
      yield* fileIn(files, user, path)
    } catch (error) {
      if (!isFault(error)) throw error
      errors.push({ path, code: error.code })
    }
  }
  const end = Buffer.from(JSON.stringify({ count: paths.length - errors.length, errors }))
  yield tarHeader({ name: '.svc-end.json', size: end.length, mtime: 0 })
  yield end
  yield tarPadding(end.length)
  yield tarEnd()
}

export const downloadBatch = handle(syncFiles.actions.download_batch, ({ params: { paths }, caller, domain }) => {
  if (paths.length > DOWNLOAD_BATCH.max_entries) throw fault('too_many_operations')
  const headers = {
    'content-type': 'application/x-tar',
    'cache-control': 'private, no-store',
    'x-content-type-options': 'nosniff',
  }
  const body = Readable.from(coalesceWrites(archive(domain.files, caller.user.id, paths)), { objectMode: false })
  return Promise.resolve({ status: 200, headers, body })
})
