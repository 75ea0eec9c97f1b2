// Headers of the wire that carry more than HTTP itself: what an action understands and what it answers with.

interface Header {
  name: string
  description: string
  schema: object
}

const text = { type: 'string' } as const
const count = { type: 'integer', minimum: 0 } as const

/** What an action's declaration can name as `takesHeaders`. */
export const requestHeaders = {
  ifNoneMatch: {
    name: 'If-None-Match',
    description: 'An `ETag` of an earlier answer. While it still holds, the answer is 304 without a body.',
    schema: text,
  },
  range: { name: 'Range', description: 'One range of bytes, as `bytes=0-1023`; answered with 206.', schema: text },
  ifRange: {
    name: 'If-Range',
    description: 'The `ETag` that `Range` is about. When it no longer holds, the whole content is answered.',
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
    description: 'SHA-256 of the content in hex. Content that has another one is not stored: `checksum_mismatch`.',
    schema: { type: 'string', pattern: '^[0-9a-fA-F]{64}$' },
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    description: 'The same key again answers what the first request was answered, and changes nothing.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  },
} as const satisfies Record<string, Header>

export type RequestHeader = keyof typeof requestHeaders

/** Headers of answers by their name. */
export const responseHeaders = {
  'Accept-Ranges': { description: '`bytes`: takes `Range`.', schema: text },
  'Content-Disposition': { description: '`attachment`, with the name to save the content under.', schema: text },
  'Content-Range': { description: 'Which bytes these are, and how many there are in all.', schema: text },
  ETag: { description: 'Names this state of the content.', schema: text },
  'Last-Modified': { description: 'When the file was changed.', schema: text },
  'RateLimit-Limit': { description: 'Requests allowed in 60 seconds.', schema: count },
  'RateLimit-Remaining': { description: 'Requests left at the moment.', schema: count },
  'RateLimit-Reset': { description: 'Seconds until all requests are allowed again.', schema: count },
  'Retry-After': { description: 'Seconds to wait before the next try.', schema: count },
  'Set-Cookie': { description: 'The session, `PHPSESSID`.', schema: text },
  'WWW-Authenticate': { description: '`Bearer`: a device token is asked for.', schema: text },
  'X-File-MTime': { description: 'Modification time in whole seconds since the epoch.', schema: count },
  'X-File-SHA256': { description: 'SHA-256 of the whole content in hex.', schema: text },
} as const

export type ResponseHeader = keyof typeof responseHeaders

/** What the content of a file is asked for with, and what is said of it. */
export const ofFile = {
  takesHeaders: ['ifNoneMatch', 'range', 'ifRange'],
  answersHeaders: ['Accept-Ranges', 'Content-Disposition', 'ETag', 'Last-Modified', 'X-File-MTime', 'X-File-SHA256'],
} as const satisfies { takesHeaders: RequestHeader[]; answersHeaders: ResponseHeader[] }
