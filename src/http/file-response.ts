import type { Readable } from 'node:stream'
import type { FileFacts } from '../domain/files/files.ts'
import { matchesEtag } from './etag.ts'
import type { Call, ByteResponse } from './handler.ts'
import { parseRange } from './range.ts'

/** Browsers save the file whatever its content is; if it is opened anyway, the sandbox disables scripts. */
export const downloadHeaders = {
  'content-type': 'application/octet-stream',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, no-cache',
}

/** The file name in ASCII and in UTF-8 (RFC 6266, RFC 8187). */
export function contentDisposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["%\\]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}

/** A download named after the last segment of `path`: 200, 206 or 304. Fault `range_not_satisfiable`. */
export async function fileResponse(
  { headers, head, domain }: Pick<Call<unknown>, 'headers' | 'head' | 'domain'>,
  path: string,
  { sha256, size, mtime }: FileFacts,
): Promise<ByteResponse> {
  const described = {
    ...downloadHeaders,
    'content-disposition': contentDisposition(path.slice(path.lastIndexOf('/') + 1)),
    'last-modified': new Date(mtime * 1_000).toUTCString(),
    'x-file-sha256': sha256,
    'x-file-mtime': String(mtime),
  }
  return contentResponse({ headers, head, domain }, described, { sha256, size })
}

/** Responds with a content under the given headers: 200, 206 for a range, or 304. Fault `range_not_satisfiable`. */
export async function contentResponse(
  { headers, head, domain }: Pick<Call<unknown>, 'headers' | 'head' | 'domain'>,
  more: Record<string, string>,
  { sha256, size }: Pick<FileFacts, 'sha256' | 'size'>,
): Promise<ByteResponse> {
  const tag = `"${sha256}"`
  const described = { ...more, 'accept-ranges': 'bytes', etag: tag }
  if (matchesEtag(headers['if-none-match'], tag)) return { status: 304, headers: described, body: undefined }
  // With If-Range, a range is only served from the content that the client already has part of.
  const condition = headers['if-range']
  const range = condition === undefined || condition.trim() === tag ? parseRange(headers['range'], size) : undefined
  const length = range ? range.end - range.start + 1 : size
  const sent = {
    ...described,
    'content-length': String(length),
    ...(range ? { 'content-range': `bytes ${range.start}-${range.end}/${size}` } : {}),
  }
  const body: Readable | Buffer | undefined = head ? undefined : await domain.files.read(sha256, range)
  return { status: range ? 206 : 200, headers: sent, body }
}
