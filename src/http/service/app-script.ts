import { Readable } from 'node:stream'
import { REMOVE_WEBRTC } from '../../base/webrtc.ts'
import type { FileFacts } from '../../domain/files/files.ts'
import { matches } from '../etag.ts'
import type { Call, Outgoing } from '../handle.ts'

// Media types that browsers run as scripts (WHATWG MIME Sniffing, 4.6); with `nosniff` they run no other.
const SCRIPT = /^(?:text|application)\/(?:x-)?(?:java|ecma|j|live)script/

export const isScript = (type: string): boolean => SCRIPT.test(type)

/** Bytes in which a directive is looked for, comments before it included. */
const HEAD = 4_096

// A statement in front of it would make a string of the directive.
const STRICT = /^\ufeff?(?:\s|\/\/[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(["'])use strict\1/

/**
 * Answers with a script of an app behind the statement that removes WebRTC. The policy of apps runs scripts from files alone, so the
 * first one to run in any realm of theirs, frames in frames and windows included, has that statement in front.
 */
export async function scriptAnswer(
  { headers, head, domain }: Pick<Call<unknown>, 'headers' | 'head' | 'domain'>,
  described: Record<string, string>,
  { sha256, size }: Pick<FileFacts, 'sha256' | 'size'>,
): Promise<Outgoing> {
  const tag = `"${sha256}-sealed"`
  const tagged = { ...described, etag: tag }
  if (matches(headers['if-none-match'], tag)) return { status: 304, headers: tagged, body: undefined }
  const begin =
    size === 0 ? '' : await textOf(await domain.files.read(sha256, { start: 0, end: Math.min(size, HEAD) - 1 }))
  const statement = Buffer.from(STRICT.test(begin) ? `'use strict';${REMOVE_WEBRTC}` : REMOVE_WEBRTC)
  const body = head ? undefined : Readable.from(joined(statement, await domain.files.read(sha256)))
  return { status: 200, headers: { ...tagged, 'content-length': String(statement.length + size) }, body }
}

async function textOf(source: Readable | Buffer): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of Buffer.isBuffer(source) ? [source] : source) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

async function* joined(first: Buffer, rest: Readable | Buffer): AsyncGenerator<Buffer> {
  yield first
  if (Buffer.isBuffer(rest)) yield rest
  else yield* rest as AsyncIterable<Buffer>
}
