import { createHash } from 'node:crypto'
import { fault } from '../contract/errors.ts'
import { syncFiles } from '../contract/sync-files.ts'
import type { Api, CallOptions } from './api.ts'
import { Unreachable } from './trouble.ts'

export interface Download {
  sha256: string
  /** Bytes to come, where the server says so. */
  size: number | undefined
  /** Seconds since the epoch, where the server says so. */
  mtime: number | undefined
  /** The content; after the last byte it throws when the content is not the one announced. */
  content: AsyncIterable<Uint8Array>
}

/** Opens a file of the account for reading. */
export async function download(api: Api, path: string, options: CallOptions = {}): Promise<Download> {
  const { headers, body } = await api.receive(syncFiles.actions.download, { path }, options)
  const sha256 = headers['x-file-sha256'] ?? ''
  if (!/^[0-9a-f]{64}$/.test(sha256)) {
    for await (const _ of body) break
    throw new Unreachable(
      `${api.url} sent ${path} without its checksum: it is not an svc server, or a proxy removes X-File-SHA256.`,
    )
  }
  return {
    sha256,
    size: wholeNumber(headers['content-length']),
    mtime: wholeNumber(headers['x-file-mtime']),
    content: verified(body, sha256, path),
  }
}

const wholeNumber = (text: string | undefined): number | undefined =>
  /^\d{1,15}$/.test(text ?? '') ? Number(text) : undefined

/** Passes a content on; after the last byte it throws when the checksum is another. `path` is its name in messages. */
export async function* verified(
  body: AsyncIterable<Uint8Array>,
  sha256: string,
  path: string,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  for await (const chunk of body) {
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest('hex') !== sha256) {
    throw fault('checksum_mismatch', {
      text: `${path} arrived damaged: its checksum is not the one the server names. Try again.`,
    })
  }
}
