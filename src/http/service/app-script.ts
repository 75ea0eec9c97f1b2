import { Readable } from 'node:stream'
import { REMOVE_WEBRTC } from '../../base/webrtc.ts'
import { contentBytes, type FileFacts } from '../../domain/files/files.ts'
import { matchesEtag } from '../etag.ts'
import type { Call, ByteResponse } from '../handler.ts'

// Media types that browsers run as scripts (WHATWG MIME Sniffing, 4.6). With `nosniff` they run no others.
const SCRIPT = /^(?:text|application)\/(?:x-)?(?:java|ecma|j|live)script/

export const isScript = (type: string): boolean => SCRIPT.test(type)

/** Bytes searched for the directive, including leading comments. */
const HEAD = 4_096

// A statement before the directive would disable it.
const STRICT = /^\ufeff?(?:\s|\/\/[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(["'])use strict\1/

/**
 * Prefixes a script of an app with the statement that removes WebRTC. The policy of apps allows scripts from files
 * only, so this statement runs first in every realm, including nested frames and windows.
 */
export async function scriptResponse(
  { headers, head, domain }: Pick<Call<unknown>, 'headers' | 'head' | 'domain'>,
  described: Record<string, string>,
  { sha256, size }: Pick<FileFacts, 'sha256' | 'size'>,
): Promise<ByteResponse> {
  const tag = `"${sha256}-sealed"`
  const tagged = { ...described, etag: tag }
  if (matchesEtag(headers['if-none-match'], tag)) return { status: 304, headers: tagged, body: undefined }
  const begin =
    size === 0
      ? ''
      : (await contentBytes(await domain.files.read(sha256, { start: 0, end: Math.min(size, HEAD) - 1 }))).toString()
  const statement = Buffer.from(STRICT.test(begin) ? `'use strict';${REMOVE_WEBRTC}` : REMOVE_WEBRTC)
  const body = head ? undefined : Readable.from(concatenate(statement, await domain.files.read(sha256)))
  return { status: 200, headers: { ...tagged, 'content-length': String(statement.length + size) }, body }
}

async function* concatenate(first: Buffer, rest: Readable | Buffer): AsyncGenerator<Buffer> {
  yield first
  if (Buffer.isBuffer(rest)) yield rest
  else yield* rest as AsyncIterable<Buffer>
}
