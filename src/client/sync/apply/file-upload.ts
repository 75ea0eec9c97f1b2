import type { FileHandle } from 'node:fs/promises'
import { contract } from '../../../contract/contract.ts'
import type { Answer } from '../../../contract/define.ts'
import { isFault } from '../../../contract/errors.ts'
import { hashInline } from '../../../host/hash-job.ts'
import { knownTime } from '../../files/modification-time.ts'
import { Changed, CorruptContent } from '../sync-errors.ts'
import type { OpOf } from '../plan/plan-builder.ts'
import { hashedChunks } from '../local/chunk-hashes.ts'
import { assertSame, openExpected } from '../local/file-hashes.ts'
import { foldersAbove } from '../plan/reserved-paths.ts'
import { assertFolders } from '../local/file-operations.ts'
import type { Effect } from '../state/commit-batcher.ts'
import type { Change } from '../state/sync-state.ts'
import { parentOf, secondsOf, type FileState } from '../plan/sync-tree.ts'
import type { RunContext } from '../run-context.ts'
import { toLocalPath } from '../../files/local-path.ts'

const action = contract.syncFiles.actions.upload

/** Largest file that is read at once, so that its checksum can precede it, bytes. */
const SMALL = 256 * 1024

/** Uploads a file if both sides are as planned. If it changes meanwhile, the request is aborted before the last byte. */
export async function upload(context: RunContext, op: OpOf<'upload'>): Promise<Effect> {
  const { id } = op.local
  const place = toLocalPath(context.root, op.here)
  const at = context.clock.now()
  const stored = await context.throttle(action, async () => {
    assertFolders(context.root, op.here)
    const file = await openExpected(place, id)
    try {
      return await send(context, op, file)
    } finally {
      await file.close()
    }
  })
  return sent(context, op, { ...stored, at })
}

/** Updates the state after an upload. `at` is when the file was opened, ms. */
export function sent(
  context: Pick<RunContext, 'known' | 'remote'>,
  op: OpOf<'upload'>,
  { sha256, mtime, at }: Pick<FileState, 'sha256' | 'mtime'> & { at: number },
): Effect {
  const { id } = op.local
  const node = { path: op.there, kind: 'file' as const, sha256, size: id.size, mtime }
  context.remote.nodes.set(op.key, node)
  const hashed = { id, sha256, blank: id.size === 0, at }
  return { changes: [...folderRecords(context, op.key, op.there), { put: op.key, node }, { hash: op.key, hashed }] }
}

async function send(context: RunContext, op: OpOf<'upload'>, file: FileHandle): Promise<FileState> {
  const { id, sha256: planned } = op.local
  const mtime = knownTime(secondsOf(id.mtimeNs))
  const content = id.size <= SMALL ? await readSmall(file, op) : readLarge(context, file, op)
  // Known before sending, except for a large file that is read for the first time.
  const known = 'bytes' in content ? content.sha256() : planned
  const params = {
    path: op.there,
    ...(mtime ? { mtime } : {}),
    ...(op.over === undefined ? { if_absent: true } : { if_sha256: op.over }),
  }
  const options = {
    signal: context.signal,
    // Idempotent: the second time, the server finds the content of the first.
    repeatable: true,
    ...(known === undefined ? {} : { headers: { 'x-file-sha256': known } }),
  }
  const body = 'bytes' in content ? content.bytes : content.chunks
  try {
    const answer = await context.api.send(action, params, body, id.size, options)
    if ('bytes' in content) context.onBytes(id.size)
    return asStored(answer, content.sha256(), id.size)
  } catch (error) {
    return alreadyThere(error, known)
  } finally {
    // An error response can arrive before the last chunk was read: wait for the reader.
    if ('chunks' in content) await content.chunks.return(undefined)
  }
}

/** The stored checksum must be that of the bytes read here; a server with only the base interface sends none. */
function asStored(answer: Partial<Answer<typeof action>>, sha256: string, size: number): FileState {
  if (answer.sha256 !== undefined && answer.sha256 !== sha256) {
    throw new CorruptContent(
      `The server stored other content than was sent: ${answer.sha256.slice(0, 8)}… instead of ${sha256.slice(0, 8)}….`,
    )
  }
  return { kind: 'file', sha256, size, mtime: knownTime(answer.mtime) ?? 0 }
}

/** A response can be lost after storing: then the conflict is with the same content. */
function alreadyThere(error: unknown, sha256: string | undefined): FileState {
  if (!isFault(error, 'precondition_failed')) throw error
  const current = error.extra.fields?.['current'] as Partial<FileState> | null | undefined
  if (sha256 === undefined || current?.sha256 !== sha256) throw new Changed('remote', error)
  return { kind: 'file', sha256, size: current.size ?? 0, mtime: knownTime(current.mtime) ?? 0 }
}

interface Small {
  bytes: Uint8Array
  sha256: () => string
}

interface Large {
  chunks: AsyncGenerator<Uint8Array>
  /** Once all chunks were read. */
  sha256: () => string
}

async function readSmall(file: FileHandle, { local }: OpOf<'upload'>): Promise<Small> {
  const job = hashInline()
  const parts: Buffer[] = []
  for await (const chunk of hashedChunks(file, local.id.size, job)) parts.push(Buffer.from(chunk))
  await assertSame(file, local.id)
  const bytes = Buffer.concat(parts)
  const sha256 = await job.digest()
  assertPlanned(local, bytes.length, sha256)
  return { bytes, sha256: () => sha256 }
}

function readLarge(context: RunContext, file: FileHandle, { local }: OpOf<'upload'>): Large {
  let sha256 = ''
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const job = context.hasher.start(local.id.size)
    let size = 0
    let last: Buffer | undefined
    try {
      for await (const chunk of hashedChunks(file, local.id.size, job)) {
        if (last) yield last
        last = chunk
        size += chunk.length
        context.onBytes(chunk.length)
      }
      await assertSame(file, local.id)
      sha256 = await job.digest()
      assertPlanned(local, size, sha256)
      if (last) yield last
    } finally {
      await job.abandon()
    }
  }
  return { chunks: chunks(), sha256: () => sha256 }
}

function assertPlanned({ id, sha256: planned }: OpOf<'upload'>['local'], size: number, sha256: string): void {
  if (size !== id.size || (planned !== undefined && planned !== sha256)) throw new Changed('local')
}

/** Both sides now have every parent folder: the server creates missing ones. */
export function folderRecords(context: Pick<RunContext, 'known' | 'remote'>, key: string, path: string): Change[] {
  const changes: Change[] = []
  let at = parentOf(key)
  for (const folder of foldersAbove(path).reverse()) {
    if (!context.known.has(at)) {
      context.known.add(at)
      changes.push({ put: at, node: { kind: 'dir', path: folder } })
    }
    if (!context.remote.nodes.has(at)) context.remote.nodes.set(at, { kind: 'dir', path: folder })
    at = parentOf(at)
  }
  return changes
}
