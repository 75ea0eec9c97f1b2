import type { Readable } from 'node:stream'
import type { FileFacts } from '../domain/files/files.ts'
import { matches } from './etag.ts'
import type { Call, Outgoing } from './handle.ts'
import { rangeOf } from './range.ts'

/** Whatever is in a file, no browser runs it: it is saved, never shown, and may do nothing if it is opened all the same. */
export const safety = {
  'content-type': 'application/octet-stream',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, no-cache',
}

/** The name for saving, in the form every client reads and in the one for all of Unicode (RFC 6266, RFC 8187). */
export function disposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["%\\]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}

/**
 * Answers with a file to be saved under the last name of `path`: whole, a range of it, or not at all when the client has
 * it. Fault `range_not_satisfiable`.
 */
export async function fileAnswer(
  { headers, head, domain }: Pick<Call<unknown>, 'headers' | 'head' | 'domain'>,
  path: string,
  { sha256, size, mtime }: FileFacts,
): Promise<Outgoing> {
  const described = {
    ...safety,
    'content-disposition': disposition(path.slice(path.lastIndexOf('/') + 1)),
    'last-modified': new Date(mtime * 1_000).toUTCString(),
    'x-file-sha256': sha256,
    'x-file-mtime': String(mtime),
  }
  return contentAnswer({ headers, head, domain }, described, { sha256, size })
}

/**
 * Answers with a content under headers that describe it: whole, a range of it, or not at all when the client has it. Fault
 * `range_not_satisfiable`.
 */
export async function contentAnswer(
  { headers, head, domain }: Pick<Call<unknown>, 'headers' | 'head' | 'domain'>,
  more: Record<string, string>,
  { sha256, size }: Pick<FileFacts, 'sha256' | 'size'>,
): Promise<Outgoing> {
  const tag = `"${sha256}"`
  const described = { ...more, 'accept-ranges': 'bytes', etag: tag }
  if (matches(headers['if-none-match'], tag)) return { status: 304, headers: described, body: undefined }
  // A range of another content than the client has parts of would not fit them (If-Range).
  const condition = headers['if-range']
  const range = condition === undefined || condition.trim() === tag ? rangeOf(headers['range'], size) : undefined
  const length = range ? range.end - range.start + 1 : size
  const sent = {
    ...described,
    'content-length': String(length),
    ...(range ? { 'content-range': `bytes ${range.start}-${range.end}/${size}` } : {}),
  }
  const body: Readable | Buffer | undefined = head ? undefined : await domain.files.read(sha256, range)
  return { status: range ? 206 : 200, headers: sent, body }
}
