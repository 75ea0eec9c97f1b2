import { rmSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { randomHex } from '../../../base/random.ts'
import { contract } from '../../../contract/contract.ts'
import { isFault } from '../../../contract/errors.ts'
import type { HashJob } from '../../../host/hash-job.ts'
import { receive as receiveInto } from '../../../host/received-file.ts'
import type { Downloaded } from '../../api.ts'
import { Unreachable } from '../../errors.ts'
import { Changed, CorruptContent } from '../sync-errors.ts'
import type { OpOf } from '../plan/plan-builder.ts'
import { ownFile } from '../state/root.ts'
import { identityOf } from '../local/scan.ts'
import type { Identity } from '../plan/sync-tree.ts'
import type { RunContext } from '../run-context.ts'

const action = contract.syncFiles.actions.download

type Download = OpOf<'download'>

/** A verified and flushed temporary file, before it is renamed. */
export interface Fetched {
  op: Download
  temporary: string
  id: Identity
  /** When the download began, ms. */
  at: number
}

/** Smallest file whose interrupted download is kept, bytes. */
const KEPT = 4 * 1_048_576

/**
 * Downloads a file to a temporary one, verified and flushed. A large one resumes an earlier attempt if the server still
 * has the same content. Throws `Changed` and `CorruptContent`.
 */
export async function fetchFile(context: RunContext, op: Download, mode: number | undefined): Promise<Fetched> {
  const at = context.clock.now()
  const name = await temporaryName(context, op)
  const temporary = ownFile(context.root, 'tmp', name)
  try {
    const id = await context.throttle(action, () => attempt(context, op, temporary, mode))
    return { op, temporary, id, at }
  } catch (error) {
    if (!context.parts.has(op.key) || !isResumable(context, error)) {
      rmSync(temporary, { force: true })
      if (context.parts.delete(op.key)) await context.commit.now({ changes: [{ whole: op.key }] })
    }
    throw error
  }
}

/** Whether to keep partial content: the error is of the network, not of the content or the disk. */
const isResumable = ({ signal }: RunContext, error: unknown): boolean =>
  signal.aborted || error instanceof Unreachable || (isFault(error) && error.code !== 'not_found')

async function temporaryName(context: RunContext, { key, file }: Download): Promise<string> {
  const before = context.parts.get(key)
  if (before?.sha256 === file.sha256 && context.capabilities.range) return before.name
  const name = randomHex(12)
  if (before) rmSync(ownFile(context.root, 'tmp', before.name), { force: true })
  if (file.size >= KEPT && context.capabilities.range) {
    const part = { name, sha256: file.sha256, at: context.clock.now() }
    await context.commit.now({ changes: [{ keep: key, part }] })
    context.parts.set(key, part)
  } else if (context.parts.delete(key)) await context.commit.now({ changes: [{ whole: key }] })
  return name
}

async function attempt(
  context: RunContext,
  op: Download,
  temporary: string,
  mode: number | undefined,
): Promise<Identity> {
  const { size, sha256, mtime } = op.file
  const kept = context.parts.has(op.key)
  const file = await open(temporary, kept ? 'a+' : 'w+', 0o666)
  try {
    const before = kept ? (await file.stat()).size : 0
    const start = before <= size ? before : 0
    if (start < before) await file.truncate(0)
    let received = await receive(context, op, file, start)
    if (start > 0 && received !== sha256) {
      // The existing part may be damaged: a power failure leaves holes.
      await file.truncate(0)
      context.onBytes(-size)
      received = await receive(context, op, file, 0)
    }
    if (received !== sha256) {
      const { size: arrived } = await file.stat()
      throw new CorruptContent(
        `${arrived} of ${size} bytes arrived, with the checksum ${received.slice(0, 8)}… instead of ${sha256.slice(0, 8)}….`,
      )
    }
    if (mode !== undefined) await file.chmod(mode)
    // A time of 0 means unknown.
    if (mtime > 0) await file.utimes(context.clock.now() / 1_000, mtime)
    await file.sync()
    return identityOf(await file.stat({ bigint: true }))
  } finally {
    await file.close()
  }
}

/** Completes a file from `start` on, and returns the checksum of the whole. */
async function receive(context: RunContext, op: Download, file: FileHandle, start: number): Promise<string> {
  const { size, sha256 } = op.file
  const job = context.hasher.start(size)
  try {
    if (start > 0) {
      await hashExisting(context, file, job, start)
      context.onBytes(start)
      if (start === size) return await job.digest()
    }
    const headers = start > 0 ? { range: `bytes=${start}-`, 'if-range': `"${sha256}"` } : {}
    const answer = await context.api.receive(action, { path: op.there }, { signal: context.signal, headers })
    const announced = answer.headers['x-file-sha256']
    const goesOn = start > 0 && isRest(answer, start, size)
    if ((announced !== undefined && announced !== sha256) || (answer.status === 206 && !goesOn)) {
      for await (const _ of answer.body) break
      throw new Changed('remote')
    }
    if (goesOn || start === 0) return await write(context, answer.body, { file, job, start, size })
    // The server ignored the range and sends everything.
    await file.truncate(0)
    context.onBytes(-start)
    return await writeFromStart(context, answer.body, { file, size })
  } finally {
    // The file must not be read any more when it is closed.
    await job.abandon()
  }
}

/** Hashes the existing part. */
async function hashExisting({ signal }: RunContext, file: FileHandle, job: HashJob, size: number): Promise<void> {
  for (let at = 0; at < size;) {
    signal.throwIfAborted()
    at = Math.min(size, at + KEPT)
    await job.advance(file, at)
  }
}

const isRest = ({ status, headers }: Downloaded, start: number, size: number): boolean =>
  status === 206 && headers['content-range'] === `bytes ${start}-${size - 1}/${size}`

interface Target {
  file: FileHandle
  job: HashJob
  start: number
  size: number
}

async function writeFromStart(
  context: RunContext,
  body: AsyncIterable<Uint8Array>,
  { file, size }: Pick<Target, 'file' | 'size'>,
): Promise<string> {
  const job = context.hasher.start(size)
  try {
    return await write(context, body, { file, job, start: 0, size })
  } finally {
    await job.abandon()
  }
}

/** Writes at most the announced size: more from the server is an error. Returns the checksum. */
async function write(
  context: RunContext,
  body: AsyncIterable<Uint8Array>,
  { file, job, start, size }: Target,
): Promise<string> {
  const rest = size - start
  const received = await receiveInto(counted(context, body), file, job, { from: start, max: rest })
  // Longer than announced is as wrong as shorter.
  return received === rest ? job.digest() : ''
}

async function* counted(context: RunContext, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    context.onBytes(chunk.length)
    yield chunk
  }
}
