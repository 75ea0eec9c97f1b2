import { hash } from 'node:crypto'
import { closeSync, fchmodSync, fstatSync, fsync, futimesSync, openSync, rmSync, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import pLimit, { type LimitFunction } from 'p-limit'
import { collectBytes } from '../../../base/byte-buffer.ts'
import { randomHex } from '../../../base/random.ts'
import { BadTar, readTar, type TarEntry } from '../../../base/tar-reader.ts'
import { contract } from '../../../contract/contract.ts'
import { Changed } from '../sync-errors.ts'
import { checkTarget, putInPlace } from './file-download.ts'
import type { OpOf } from '../plan/plan-builder.ts'
import type { Fetched } from './content-download.ts'
import { splitIntoBatches } from './transfer-batches.ts'
import { fallback } from '../remote/capabilities.ts'
import { ownFile } from '../state/root.ts'
import type { SendBatch, OnResult } from './executor.ts'
import { identityOf } from '../local/scan.ts'
import type { RunContext } from '../run-context.ts'

const action = contract.syncFiles.actions.download_batch

type Download = OpOf<'download'>

const END = '.svc-end.json'
/** Longest last entry, bytes: a line for each of a thousand rejected paths. */
const LONGEST_END = 8 * 1_048_576
/** Largest requested archive, bytes. */
const MAX_BYTES = 64 * 1_048_576

/** Groups downloads of files up to `most` bytes into archives; larger ones are left out. */
export function downloadGroups(context: Pick<RunContext, 'capabilities'>, ops: readonly Download[], most: number) {
  const offer = context.capabilities.download_batch
  // A file with the name of the archive's own last entry would be ambiguous.
  const isBatchable = ({ file, there }: Download): boolean =>
    offer !== undefined && file.size <= most && there !== `/${END}`
  const room = { entries: offer?.entries ?? 0, bytes: MAX_BYTES }
  const groups = offer ? splitIntoBatches(ops.filter(isBatchable), room, ({ file }) => file.size) : []
  return { groups, rest: ops.filter((op) => !isBatchable(op)) }
}

/** The archive contains a file that was not requested: reading stops. */
class InvalidArchive extends Error {}

/** Files of a group still to arrive, by their path on the server. */
type Wanted = Map<string, { op: Download; mode: number | undefined }>

/**
 * Downloads files in one archive. Each is verified and flushed before it gets its place. If the archive breaks off,
 * complete files are kept and the rest is requested again.
 */
export function downloadBatch(context: RunContext): SendBatch<Download> {
  const oneByOne = pLimit(1)
  return async (ops, onResult) => {
    if (!context.capabilities.download_batch || ops.length < 2) return
    const wanted: Wanted = new Map()
    for (const op of ops) {
      try {
        // A file with a new path is checked when it is written.
        wanted.set(op.there, { op, mode: op.over && checkTarget(context, op) })
      } catch (error) {
        onResult(op, { error })
      }
    }
    const store = makeBatchWriter(context, oneByOne, onResult)
    try {
      while (wanted.size > 0) {
        const before = wanted.size
        const isWhole = await context.throttle(action, () => receive(context, wanted, store, onResult))
        if (isWhole || wanted.size === before) break
      }
      await store.finish()
    } catch (error) {
      await store.finish()
      const instead =
        error instanceof InvalidArchive ? 'alone' : fallback(context.capabilities, 'download_batch', error)
      if (error instanceof InvalidArchive) context.capabilities.download_batch = undefined
      if (instead === 'alone') return
      for (const { op } of wanted.values()) {
        onResult(op, { error: instead === 'again' ? new Changed('remote', error) : error })
      }
    }
  }
}

/** Reads an archive; false if it ended early. Complete or refused files are removed from the wanted ones. */
async function receive(
  context: RunContext,
  wanted: Wanted,
  store: BatchWriter,
  onResult: OnResult<Download>,
): Promise<boolean> {
  const paths = [...wanted.keys()]
  const answer = await context.api.receive(action, { paths }, { signal: context.signal })
  const seen = new Set<string>()
  let any = false
  try {
    for await (const entry of readTar(answer.body)) {
      any = true
      if (entry.name === END) {
        readRefusals(await contentOf(entry, LONGEST_END), wanted, onResult)
        return true
      }
      const path = entry.name.startsWith('/') ? entry.name : `/${entry.name}`
      const asked = wanted.get(path)
      if (!asked || seen.has(path) || entry.type !== '0') throw new InvalidArchive()
      seen.add(path)
      const { sha256, size } = asked.op.file
      if ((entry.keys.get('SVC.sha256') ?? sha256) !== sha256) {
        wanted.delete(path)
        onResult(asked.op, { error: new Changed('remote') })
        // The file on the server has changed size: do not read the rest of the archive for it.
        if (entry.size > MAX_BYTES) return false
        continue
      }
      if (entry.size !== size) throw new InvalidArchive()
      const content = await contentOf(entry, size)
      context.onBytes(size)
      wanted.delete(path)
      // With unexpected content it is downloaded alone, which reports what is wrong.
      if (hash('sha256', content) === sha256) await store.add({ ...asked, content })
      else context.onBytes(-size)
    }
  } catch (error) {
    if (!(error instanceof BadTar)) throw error
    if (!any) throw new InvalidArchive()
  }
  return false
}

async function contentOf(entry: TarEntry, most: number): Promise<Buffer> {
  if (entry.size > most) throw new InvalidArchive()
  const parts = (await collectBytes(entry.body)).take()
  return parts.length === 1
    ? Buffer.from(parts[0]!.buffer, parts[0]!.byteOffset, parts[0]!.length)
    : Buffer.concat(parts)
}

/** Processes the list of files that the server could not send. */
function readRefusals(end: Buffer, wanted: Wanted, onResult: OnResult<Download>): void {
  let errors: unknown
  try {
    errors = (JSON.parse(end.toString('utf8')) as { errors?: unknown } | null)?.errors
  } catch {
    throw new InvalidArchive()
  }
  if (!Array.isArray(errors)) throw new InvalidArchive()
  for (const each of errors as ({ path?: unknown; code?: unknown } | null)[]) {
    const path = String(each?.path)
    const asked = wanted.get(path)
    // Other errors occur again when the file is requested on its own.
    if (each?.code !== 'not_found' || !asked) continue
    wanted.delete(path)
    onResult(asked.op, { error: new Changed('remote') })
  }
}

interface Arrived {
  op: Download
  mode: number | undefined
  content: Buffer
}

/** Files written and flushed together: enough to share the cost, few enough for memory. */
const CHUNK = { files: 250, bytes: 8 * 1_048_576 }

type BatchWriter = ReturnType<typeof makeBatchWriter>

/** Writes files while others arrive. `oneByOne`: a file system that flushes blocks the creation of files meanwhile. */
function makeBatchWriter(context: RunContext, oneByOne: LimitFunction, onResult: OnResult<Download>) {
  let chunk: Arrived[] = []
  let bytes = 0
  let storing: Promise<void> = Promise.resolve()

  async function storeChunk(): Promise<void> {
    await storing
    const whole = chunk
    storing = oneByOne(() => writeAll(context, whole, onResult))
    // The error is thrown where `storing` is awaited.
    storing.catch(() => undefined)
    chunk = []
    bytes = 0
  }

  return {
    async add(arrived: Arrived): Promise<void> {
      chunk.push(arrived)
      bytes += arrived.content.length
      if (chunk.length >= CHUNK.files || bytes >= CHUNK.bytes) await storeChunk()
    },
    /** Resolves when all files are in place. */
    async finish(): Promise<void> {
      await storeChunk()
      await storing
    },
  }
}

const flush = promisify(fsync)

async function writeAll(context: RunContext, arrived: readonly Arrived[], onResult: OnResult<Download>): Promise<void> {
  const at = context.clock.now()
  const written: (Omit<Fetched, 'id'> & { file: number })[] = []
  const name = randomHex(12)
  for (const [index, { op, mode, content }] of arrived.entries()) {
    const temporary = ownFile(context.root, 'tmp', `${name}-${index}`)
    try {
      written.push({ op, at, temporary, file: write(context, op, { temporary, mode, content }) })
    } catch (error) {
      onResult(op, { error })
    }
  }
  const flushed = await Promise.all(
    written.map(async ({ file, ...each }): Promise<Fetched | undefined> => {
      try {
        await flush(file)
        return { ...each, id: identityOf(fstatSync(file, { bigint: true })) }
      } catch (error) {
        rmSync(each.temporary, { force: true })
        onResult(each.op, { error })
        return undefined
      } finally {
        closeSync(file)
      }
    }),
  )
  context.signal.throwIfAborted()
  await putInPlace(
    context,
    flushed.filter((each) => each !== undefined),
    onResult,
  )
}

/** Writes a temporary file and leaves it open; the batch is flushed together. */
function write(
  context: RunContext,
  { file: { mtime } }: Download,
  { temporary, mode, content }: { temporary: string; mode: number | undefined; content: Buffer },
): number {
  const file = openSync(temporary, 'wx', 0o666)
  try {
    for (let at = 0; at < content.length;) at += writeSync(file, content, at)
    if (mode !== undefined) fchmodSync(file, mode)
    // A time of 0 means unknown.
    if (mtime > 0) futimesSync(file, context.clock.now() / 1_000, mtime)
    return file
  } catch (error) {
    closeSync(file)
    rmSync(temporary, { force: true })
    throw error
  }
}
