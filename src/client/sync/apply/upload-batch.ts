import { hash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { tarEnd, tarHeader, tarPadding } from '../../../base/tar-writer.ts'
import { UNTRUSTED } from '../../../host/regular-file.ts'
import { contract } from '../../../contract/contract.ts'
import { errors, fault, isFault, type ErrorCode } from '../../../contract/errors.ts'
import { Changed } from '../sync-errors.ts'
import type { OpOf } from '../plan/plan-builder.ts'
import { splitIntoBatches } from './transfer-batches.ts'
import { fallback } from '../remote/capabilities.ts'
import { assertFolders } from '../local/file-operations.ts'
import type { SendBatch, OnResult } from './executor.ts'
import { identityOf } from '../local/scan.ts'
import { isSamePath, sameIdentity, secondsOf } from '../plan/sync-tree.ts'
import { sent } from './file-upload.ts'
import type { RunContext } from '../run-context.ts'
import { toLocalPath } from '../../files/local-path.ts'

const action = contract.syncFiles.actions.upload_batch

type Upload = OpOf<'upload'>

/** Placeholder of a checksum before the file is read, or if it cannot be read: that of the empty content. */
const NO_SHA256 = '0'.repeat(64)

interface Entry {
  op: Upload
  /** The checksum is filled in when the file has been read. */
  header: Buffer
  sha256: string
  /** Why it could not be read as planned; zeros of the same length are sent, which the server rejects. */
  error?: unknown
}

const mtimeOf = ({ local }: Upload): number => secondsOf(local.id.mtimeNs)

function headerOf(op: Upload): Buffer {
  const keys = { 'SVC.sha256': NO_SHA256, 'SVC.if_sha256': op.over ?? 'absent' }
  const header = tarHeader({ name: op.there.slice(1), size: op.local.id.size, mtime: mtimeOf(op), keys })
  return Buffer.from(header.buffer, header.byteOffset, header.length)
}

/** Times that a tar header can represent; other files are sent one by one. */
const LATEST = 8 ** 11 - 1

/** Most overhead of an entry: headers for the longest path, and padding. */
const ENTRY_OVERHEAD = 8 * 1_024

/** Groups uploads of files up to `most` bytes into archives; larger ones, or those with invalid times, are left out. */
export function uploadGroups(context: Pick<RunContext, 'capabilities'>, ops: readonly Upload[], most: number) {
  const room = context.capabilities.upload_batch
  const isBatchable = (op: Upload): boolean =>
    room !== undefined && op.local.id.size <= most && mtimeOf(op) > 0 && mtimeOf(op) <= LATEST
  const groups = room ? splitIntoBatches(ops.filter(isBatchable), room, (op) => op.local.id.size + ENTRY_OVERHEAD) : []
  return { groups, rest: ops.filter((op) => !isBatchable(op)) }
}

/** Uploads files in one archive, each if both sides are as planned, with the checksum of the bytes read. */
export const uploadBatch =
  (context: RunContext): SendBatch<Upload> =>
  async (ops, onResult) => {
    if (!context.capabilities.upload_batch || ops.length < 2) return
    const at = context.clock.now()
    let entries: Entry[] = []
    const settle = (results: unknown): void => {
      const byIndex = resultsByIndex(results)
      for (const [index, entry] of entries.entries()) {
        const { op, sha256, error } = entry
        if (error !== undefined) onResult(op, { error })
        else {
          const answer = readResult(entry, byIndex.get(index))
          if (answer === 'stored') onResult(op, { effect: sent(context, op, { sha256, mtime: mtimeOf(op), at }) })
          else if (answer) onResult(op, { error: answer })
        }
      }
    }
    let results: unknown
    let failure: { error: unknown } | undefined
    try {
      const answer = await context.throttle(action, () => {
        entries = ops.map((op) => ({ op, header: headerOf(op), sha256: NO_SHA256 }))
        return send(context, entries)
      })
      results = answer.results
    } catch (error) {
      // Entries before the end of a broken archive are stored nevertheless.
      if (isFault(error)) results = error.extra.fields?.['results']
      failure = { error }
    }
    settle(results)
    if (failure) reportRest(context, ops, failure.error, onResult)
  }

/** Reports operations without a result after a batch failed as a whole. */
function reportRest(context: RunContext, ops: readonly Upload[], error: unknown, onResult: OnResult<Upload>): void {
  const instead = fallback(context.capabilities, 'upload_batch', error)
  if (instead === 'alone') return
  for (const op of ops) onResult(op, { error: instead === 'again' ? new Changed('remote', error) : error })
}

/** Sends the archive; counted bytes are reverted if the request failed. */
async function send(context: RunContext, entries: Entry[]) {
  const end = tarEnd()
  const size = entries.reduce((sum, { op, header }) => sum + header.length + padded(op.local.id.size), end.length)
  let counted = 0
  const onBytes = (count: number): void => {
    counted += count
    context.onBytes(count)
  }
  async function* archive(): AsyncGenerator<Uint8Array> {
    // Yields to the connection while it is full.
    await Promise.resolve()
    yield* joined(entries.map((entry) => () => bytesOf(context, entry, onBytes)))
    yield end
  }
  const headers = { 'content-type': 'application/x-tar' }
  const options = { headers, signal: context.signal, repeatable: true, timeout: TIMEOUT_MS }
  try {
    return await context.api.send(action, {}, archive(), size, options)
  } catch (error) {
    context.onBytes(-counted)
    throw error
  }
}

/** Time limit, ms: a server may need long to store a thousand files. */
const TIMEOUT_MS = 180_000

const padded = (size: number): number => size + tarPadding(size).length

/** Bytes of small pieces sent together. */
const PIECE = 128 * 1024

function* joined(pieces: (() => Buffer[])[]): Generator<Uint8Array> {
  let parts: Buffer[] = []
  let size = 0
  for (const make of pieces) {
    for (const part of make()) {
      parts.push(part)
      size += part.length
    }
    if (size < PIECE) continue
    yield Buffer.concat(parts, size)
    parts = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(parts, size)
}

/** A file in the archive: exactly the announced length, even if the file changes. */
function bytesOf(context: RunContext, entry: Entry, onBytes: (count: number) => void): Buffer[] {
  const { op, header } = entry
  const { size } = op.local.id
  let content: Buffer
  try {
    content = readWhole(context, op)
    entry.sha256 = hash('sha256', content)
    const { sha256: planned } = op.local
    if (planned !== undefined && planned !== entry.sha256) throw new Changed('local')
    onBytes(size)
  } catch (error) {
    entry.sha256 = NO_SHA256
    entry.error = error
    content = Buffer.alloc(size)
  }
  // Search before the path, which might contain the same text.
  header.write(entry.sha256, header.indexOf('SVC.sha256=') + 'SVC.sha256='.length, 'latin1')
  return [header, content, Buffer.from(tarPadding(size))]
}

/** Synchronous, because asynchronous calls would dominate the cost of small files. */
function readWhole(context: RunContext, op: Upload): Buffer {
  const { id } = op.local
  assertFolders(context.root, op.here)
  const file = openSync(toLocalPath(context.root, op.here), UNTRUSTED)
  const assertSame = (): void => {
    const stats = fstatSync(file, { bigint: true })
    if (!stats.isFile() || !sameIdentity(identityOf(stats), id)) throw new Changed('local')
  }
  try {
    assertSame()
    const content = Buffer.allocUnsafe(id.size)
    for (let filled = 0; filled < id.size;) {
      const read = readSync(file, content, filled, id.size - filled, filled)
      if (read === 0) throw new Changed('local')
      filled += read
    }
    assertSame()
    return content
  } finally {
    closeSync(file)
  }
}

type Result = Record<string, unknown>

function resultsByIndex(results: unknown): Map<unknown, Result> {
  const list = Array.isArray(results) ? (results as (Result | null)[]) : []
  return new Map(list.flatMap((result) => (result ? [[result['index'], result]] : [])))
}

/** Errors that would be the same for the file on its own. */
const FINAL = new Set<string>([
  'precondition_failed',
  'quota_exceeded',
  'too_many_files',
  'bad_path',
  'exists',
  'forbidden',
  'disk_full',
])

/** The server's error for an entry; undefined if the file should be tried alone. */
function readResult({ op, sha256 }: Entry, result: Result | undefined): 'stored' | Error | undefined {
  if (!result || !isAbout(result, op.there)) return undefined
  if (result['ok'] === true) return 'stored'
  const { code, error: text, current } = result
  // A response can be lost after storing: then the conflict is with the same content.
  if (code === 'precondition_failed' && (current as Result | null | undefined)?.['sha256'] === sha256) return 'stored'
  if (typeof code !== 'string' || !FINAL.has(code) || !Object.hasOwn(errors, code)) return undefined
  return fault(code as ErrorCode, typeof text === 'string' ? { text } : {})
}

const isAbout = ({ path }: Result, there: string): boolean =>
  typeof path === 'string' && (isSamePath(path, there) || isSamePath(path, there.slice(1)))
