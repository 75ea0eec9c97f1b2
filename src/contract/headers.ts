// Headers with a meaning beyond HTTP itself: what actions accept and what they respond with.

interface Header {
  name: string
  description: string
  schema: object
}

const text = { type: 'string' } as const
const count = { type: 'integer', minimum: 0 } as const

/** Values of `takesHeaders`. */
export const requestHeaders = {
  ifNoneMatch: {
    name: 'If-None-Match',
    description: '`ETag` of an earlier response. If it still matches, the response is 304 without a body.',
    schema: text,
  },
  range: { name: 'Range', description: 'One byte range, such as `bytes=0-1023`. The response is 206.', schema: text },
  ifRange: {
    name: 'If-Range',
    description: 'The `ETag` that `Range` refers to. If it no longer matches, the whole content is sent.',
    schema: text,
  },
  ifMatch: {
    name: 'If-Match',
    description: 'The SHA-256 that the file must have, in double quotes; the same as `if_sha256`.',
    schema: { type: 'string', pattern: '^"[0-9a-f]{64}"$' },
  },
  ifAbsent: {
    name: 'If-None-Match',
    description: '`*`: only when there is no such file; the same as `if_absent`.',
    schema: { type: 'string', enum: ['*'] },
  },
  contentSha256: {
    name: 'X-File-SHA256',
    description: 'SHA-256 of the content in hex. Other content is not stored: `checksum_mismatch`.',
    schema: { type: 'string', pattern: '^[0-9a-fA-F]{64}$' },
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    description: 'Repeating a key returns the first response and changes nothing.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  },
} as const satisfies Record<string, Header>

export type RequestHeader = keyof typeof requestHeaders

export const responseHeaders = {
  'Accept-Ranges': { description: '`bytes`: supports `Range`.', schema: text },
  'Content-Disposition': { description: '`attachment`, with the file name.', schema: text },
  'Content-Range': { description: 'Range of the sent bytes, and the total size.', schema: text },
  ETag: { description: 'Identifies this version of the content.', schema: text },
  'Last-Modified': { description: 'Modification time of the file.', schema: text },
  'RateLimit-Limit': { description: 'Requests allowed in 60 seconds.', schema: count },
  'RateLimit-Remaining': { description: 'Remaining requests.', schema: count },
  'RateLimit-Reset': { description: 'Seconds until all requests are allowed again.', schema: count },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: count },
  'Set-Cookie': { description: 'The session, `PHPSESSID`.', schema: text },
  'WWW-Authenticate': { description: '`Bearer`: a device token is required.', schema: text },
  'X-File-MTime': { description: 'Modification time in whole seconds since the epoch.', schema: count },
  'X-File-SHA256': { description: 'SHA-256 of the whole content in hex.', schema: text },
} as const

export type ResponseHeader = keyof typeof responseHeaders

/** Headers of file contents: conditions and ranges of requests, and their responses. */
export const ofFile = {
  takesHeaders: ['ifNoneMatch', 'range', 'ifRange'],
  answersHeaders: ['Accept-Ranges', 'Content-Disposition', 'ETag', 'Last-Modified', 'X-File-MTime', 'X-File-SHA256'],
} as const satisfies { takesHeaders: RequestHeader[]; answersHeaders: ResponseHeader[] }
