import { createHash } from 'node:crypto'
import { fault } from '../../contract/errors.ts'
import { filesystem } from '../../contract/filesystem.ts'
import { syncFiles } from '../../contract/sync-files.ts'
import type { Api } from '../api.ts'
import { isShared } from './remote-files.ts'
import { knownTime } from './modification-time.ts'
import { Unreachable } from '../errors.ts'
import { discard } from '../http/response.ts'

export interface Download {
  sha256: string
  /** Bytes, if the server announces them. */
  size: number | undefined
  /** Seconds since the epoch, if the server sends them. */
  mtime: number | undefined
  /** The content; throws after the last byte if the checksum differs. */
  content: AsyncIterable<Uint8Array>
}

/** Opens a file of the account, or of one of its rooms, for reading. */
export async function download(api: Api, path: string): Promise<Download> {
  const action = isShared(path) ? filesystem.actions.download : syncFiles.actions.download
  const answer = await api.receive(action, { path })
  const { headers, body } = answer
  const sha256 = headers['x-file-sha256'] ?? ''
  if (!/^[0-9a-f]{64}$/.test(sha256)) {
    await discard(answer)
    throw new Unreachable(
      `${api.url} sent ${path} without its checksum: it is not an svc server, or a proxy removes X-File-SHA256.`,
    )
  }
  return {
    sha256,
    size: wholeNumber(headers['content-length']),
    mtime: knownTime(wholeNumber(headers['x-file-mtime'])),
    content: verified(body, sha256, path),
  }
}

/** The hash of a file, without transferring it. */
export async function remoteHash(api: Api, path: string): Promise<string> {
  const { sha256, content } = await download(api, path)
  for await (const _ of content) break
  return sha256
}

const wholeNumber = (text: string | undefined): number | undefined =>
  /^\d{1,15}$/.test(text ?? '') ? Number(text) : undefined

/** Passes a content on; throws after the last byte if the checksum differs. `path` is for messages. */
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
      text: `${path} arrived damaged: its checksum differs from the one that the server sent. Try again.`,
    })
  }
}
