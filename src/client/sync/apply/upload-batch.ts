import { hash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { tarEnd, tarHeader, tarPadding } from '../../../base/tar-writer.ts'
import { contract } from '../../../contract/contract.ts'
import { errors, fault, isFault, type ErrorCode } from '../../../contract/errors.ts'
import { Changed } from '../sync-errors.ts'
import type { OpOf } from '../plan/plan-builder.ts'
import { splitIntoBatches } from './batches.ts'
import { fallback } from '../remote/capabilities.ts'
import { assertFolders } from '../local/file-operations.ts'
import type { SendBatch, OnResult } from './executor.ts'
import { identityOf } from '../local/scan.ts'
import { isSamePath, sameIdentity, secondsOf } from '../plan/tree.ts'
import { sent } from './upload-file.ts'
import type { RunContext } from '../run-context.ts'
import { toLocalPath } from '../../local-path.ts'

const action = contract.syncFiles.actions.upload_batch

type Upload = OpOf<'upload'>

/** Stands for a checksum until the file was read, and for that of a file that could not be read: it is that of nothing. */
const NO_SHA256 = '0'.repeat(64)

/** A file of an archive. */
interface Entry {
  op: Upload
  /** With a place for the checksum, which is known only when the file was read. */
  header: Buffer
  sha256: string
  /** Why it could not be read as planned; zeros of its length are sent instead, which the server refuses. */
  error?: unknown
}

const mtimeOf = ({ local }: Upload): number => secondsOf(local.id.mtimeNs)

function headerOf(op: Upload): Buffer {
  const keys = { 'SVC.sha256': NO_SHA256, 'SVC.if_sha256': op.over ?? 'absent' }
  const header = tarHeader({ name: op.there.slice(1), size: op.local.id.size, mtime: mtimeOf(op), keys })
  return Buffer.from(header.buffer, header.byteOffset, header.length)
}

/** Times that the archive cannot say; such a file goes on its own. */
const LATEST = 8 ** 11 - 1

/** Room that an entry takes beside its content, at most: headers for the longest path, and what fills the last block. */
const BESIDE = 8 * 1_024

/** Puts uploads of files up to `most` bytes into groups for an archive each; what is too large or has an odd time is left. */
export function uploadGroups(context: Pick<RunContext, 'capabilities'>, ops: readonly Upload[], most: number) {
  const room = context.capabilities.upload_batch
  const isBatchable = (op: Upload): boolean =>
    room !== undefined && op.local.id.size <= most && mtimeOf(op) > 0 && mtimeOf(op) <= LATEST
  const groups = room ? splitIntoBatches(ops.filter(isBatchable), room, (op) => op.local.id.size + BESIDE) : []
  return { groups, rest: ops.filter((op) => !isBatchable(op)) }
}

/**
 * Sends files in one archive, each if it still is what the plan saw and the server still has what the plan saw there. Each is
 * opened and read once, and goes into the archive with the checksum of what was read.
 */
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
      // What came before the end of a broken archive is stored all the same.
      if (isFault(error)) results = error.extra.fields?.['results']
      failure = { error }
    }
    settle(results)
    if (failure) reportRest(context, ops, failure.error, onResult)
  }

/** Reports the operations without a result when a batch failed as a whole. */
function reportRest(context: RunContext, ops: readonly Upload[], error: unknown, onResult: OnResult<Upload>): void {
  const instead = fallback(context.capabilities, 'upload_batch', error)
  if (instead === 'alone') return
  for (const op of ops) onResult(op, { error: instead === 'again' ? new Changed('remote', error) : error })
}

/** Sends the archive; bytes that were counted on the way count no more when the request failed. */
async function send(context: RunContext, entries: Entry[]) {
  const end = tarEnd()
  const size = entries.reduce((sum, { op, header }) => sum + header.length + padded(op.local.id.size), end.length)
  let counted = 0
  const onBytes = (count: number): void => {
    counted += count
    context.onBytes(count)
  }
  async function* archive(): AsyncGenerator<Uint8Array> {
    // Nothing is waited for here, but the connection while it is full.
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

/** A server may take its time to store a thousand files, in milliseconds. */
const TIMEOUT_MS = 180_000

const padded = (size: number): number => size + tarPadding(size).length

/** Small pieces that go over the wire together, in bytes. */
const PIECE = 128 * 1024

/** Joins pieces, which are made one after another, into larger ones. */
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

/** A file as it stands in the archive: exactly as long as was announced, whatever became of it. */
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
  // The checksum stands before the path, which might hold the same words.
  header.write(entry.sha256, header.indexOf('SVC.sha256=') + 'SVC.sha256='.length, 'latin1')
  return [header, content, Buffer.from(tarPadding(size))]
}

/** Reads a file that is the expected one before and after. At once, because a thousand small files wait for nothing else. */
function readWhole(context: RunContext, op: Upload): Buffer {
  const { id } = op.local
  assertFolders(context.root, op.here)
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
  const file = openSync(toLocalPath(context.root, op.here), flags)
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

/** Codes that would be the same for the file on its own. */
const FINAL = new Set<string>([
  'precondition_failed',
  'quota_exceeded',
  'too_many_files',
  'bad_path',
  'exists',
  'forbidden',
  'disk_full',
])

/** What a server says of an entry; undefined when the file on its own may fare better. */
function readResult({ op, sha256 }: Entry, result: Result | undefined): 'stored' | Error | undefined {
  if (!result || !isAbout(result, op.there)) return undefined
  if (result['ok'] === true) return 'stored'
  const { code, error: text, current } = result
  // An answer may get lost after the contents were stored: then the same content is what stands in the way.
  if (code === 'precondition_failed' && (current as Result | null | undefined)?.['sha256'] === sha256) return 'stored'
  if (typeof code !== 'string' || !FINAL.has(code) || !Object.hasOwn(errors, code)) return undefined
  return fault(code as ErrorCode, typeof text === 'string' ? { text } : {})
}

const isAbout = ({ path }: Result, there: string): boolean =>
  typeof path === 'string' && (isSamePath(path, there) || isSamePath(path, there.slice(1)))
