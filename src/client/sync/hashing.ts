import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import pLimit from 'p-limit'
import type { Clock } from '../../base/clock.ts'
import { Changed } from './changed.ts'
import { isCopyName, placeOf } from './paths.ts'
import { identityOf } from './scan.ts'
import type { Hashed, State } from './state.ts'
import {
  sameIdentity,
  type BaseTree,
  type Identity,
  type LocalFile,
  type LocalNode,
  type RemoteNode,
  type Tree,
} from './tree.ts'

const CHUNK = 1 << 20
const AT_ONCE = 8
/** Distance within which two changes of a file may leave the same time on it (FAT keeps 2 seconds); git's "racily clean". */
const RACY_NS = 2_000_000_000n
const ZEROS = Buffer.alloc(CHUNK)

/** Opens a file for reading; a link is not followed, a pipe does not block, and whatever is not the expected file is `Changed`. */
export async function openExpected(place: string, expected: Identity): Promise<FileHandle> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
  const file = await open(place, flags)
  try {
    await assertSame(file, expected)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Throws `Changed` when an open file is not, or no longer, the expected one. */
export async function assertSame(file: FileHandle, expected: Identity): Promise<void> {
  const stats = await file.stat({ bigint: true })
  if (!stats.isFile() || !sameIdentity(identityOf(stats), expected)) throw new Changed('here')
}

/** Reads an open file from its beginning, at most `size` bytes of it. Each chunk is valid until the next is asked for. */
export async function* chunksOf(file: FileHandle, size: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK, Math.max(1, size)))
  for (let position = 0; position < size;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - position), position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/** Hashes a file in one pass; `Changed` when it does not stand still. */
async function hashFile(place: string, expected: Identity): Promise<{ sha256: string; blank: boolean }> {
  const file = await openExpected(place, expected)
  try {
    const hash = createHash('sha256')
    let blank = true
    for await (const chunk of chunksOf(file, expected.size)) {
      hash.update(chunk)
      blank &&= chunk.equals(ZEROS.subarray(0, chunk.length))
    }
    await assertSame(file, expected)
    return { sha256: hash.digest('hex'), blank }
  } finally {
    await file.close()
  }
}

/** Whether a remembered hash still speaks for a file. */
function holds(hashed: Hashed | undefined, id: Identity): hashed is Hashed {
  if (!hashed || !sameIdentity(hashed.id, id)) return false
  const distance = BigInt(hashed.at) * 1_000_000n - id.mtimeNs
  return distance > RACY_NS || distance < -RACY_NS
}

interface Parts {
  root: string
  base: BaseTree
  local: Tree<LocalNode>
  remote: Tree<RemoteNode>
  state: Pick<State, 'hashes' | 'commit'>
  clock: Clock
  signal?: AbortSignal | undefined
}

/**
 * Finds out the contents of local files where a decision depends on them, from memory where the file looks as it did, else
 * by reading it. A file that neither base nor remote knows is sent whatever it holds, so it is read once, when it is sent;
 * except where its size says that it may be one that has moved, or its name that it is a conflict copy. Returns how many files were read.
 */
export async function fillHashes({ root, base, local, remote, state, clock, signal }: Parts): Promise<number> {
  const remembered = state.hashes()
  const missing = missingSizes(base, local)
  const limit = pLimit(AT_ONCE)
  const learnt: { key: string; hashed: Hashed }[] = []
  const work: Promise<void>[] = []
  for (const [key, node] of local.nodes) {
    if (node.kind !== 'file') continue
    const hashed = remembered.get(key)
    if (holds(hashed, node.id)) Object.assign(node, { sha256: hashed.sha256, blank: hashed.blank })
    else if (base.has(key) || remote.nodes.has(key) || missing.has(node.id.size) || isCopyName(node.path)) {
      work.push(limit(() => fill(key, node)))
    }
  }

  async function fill(key: string, node: LocalFile): Promise<void> {
    signal?.throwIfAborted()
    const at = clock.now()
    try {
      const content = await hashFile(placeOf(root, node.path), node.id)
      Object.assign(node, content)
      learnt.push({ key, hashed: { id: node.id, ...content, at } })
    } catch (error) {
      // It is there, but what it holds is not known: nothing is decided about it.
      const reason = String((error as NodeJS.ErrnoException).code ?? error)
      const moving = error instanceof Changed || ['ENOENT', 'ELOOP'].includes(reason)
      const code = moving ? 'busy' : 'unreadable'
      local.nodes.set(key, { kind: 'other', path: node.path, code })
      local.incomplete.add(key)
      local.skipped.push(moving ? { path: node.path, code } : { path: node.path, code, detail: reason })
    }
  }

  await Promise.all(work)
  state.commit(learnt.map(({ key, hashed }) => ({ hash: key, hashed })))
  return work.length
}

/** Sizes of the files that base knows and that are gone here. */
function missingSizes(base: BaseTree, local: Tree<LocalNode>): Set<number> {
  const sizes = new Set<number>()
  for (const [key, node] of base) if (node.kind === 'file' && !local.nodes.has(key)) sizes.add(node.size)
  return sizes
}
