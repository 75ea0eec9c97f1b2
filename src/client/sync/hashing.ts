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
export async function hashFile(place: string, expected: Identity): Promise<{ sha256: string; blank: boolean }> {
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
  /** What was read before: `hashes` of the state. */
  remembered: ReadonlyMap<string, Hashed>
  state: Pick<State, 'commit'>
  /** Keys whose content matters, although neither side knows of it. */
  also?: ReadonlySet<string>
  clock: Clock
  signal?: AbortSignal | undefined
}

/**
 * Finds out the contents of local files where a decision depends on them, from memory where the file looks as it did, else
 * by reading it. A file that neither base nor remote knows is sent whatever it holds, so it is read once, when it is sent;
 * except where its size says that it may be one that has moved, or its name that it is a conflict copy. Returns how many files were read.
 */
export async function fillHashes(parts: Parts): Promise<number> {
  const { root, base, local, remote, remembered, state, also, clock, signal } = parts
  const limit = pLimit(AT_ONCE)
  const learnt: { key: string; hashed: Hashed }[] = []
  const fresh: [string, LocalFile][] = []
  const work: Promise<void>[] = []
  for (const [key, node] of local.nodes) {
    if (node.kind !== 'file') continue
    const hashed = remembered.get(key)
    if (holds(hashed, node.id)) Object.assign(node, { sha256: hashed.sha256, blank: hashed.blank })
    else if (base.has(key) || remote.nodes.has(key) || also?.has(key) || isCopyName(node.path))
      work.push(limit(() => fill(key, node)))
    else fresh.push([key, node])
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
  const { sizes, byInode } = goneFiles(base, local, remembered)
  for (const [key, node] of fresh) {
    const before = byInode.get(node.id.ino)
    // In a folder that was renamed the files are what they were, to the time of their last change.
    if (before && holds(before, node.id)) {
      Object.assign(node, { sha256: before.sha256, blank: before.blank })
      learnt.push({ key, hashed: before })
    } else if (sizes.has(node.id.size)) work.push(limit(() => fill(key, node)))
  }
  await Promise.all(work)
  const known = new Set([...base.keys(), ...local.nodes.keys()])
  const stale = [...remembered.keys()].filter((key) => !known.has(key))
  state.commit([
    ...learnt.map(({ key, hashed }) => ({ hash: key, hashed })),
    ...stale.map((forgetHash) => ({ forgetHash })),
  ])
  return work.length
}

/** What base knows and what is not where it was any more: sizes to look for, and what was remembered of each file by its number. */
function goneFiles(
  base: BaseTree,
  local: Tree<LocalNode>,
  remembered: ReadonlyMap<string, Hashed>,
): { sizes: Set<number>; byInode: Map<bigint, Hashed> } {
  const sizes = new Set<number>()
  const byInode = new Map<bigint, Hashed>()
  for (const [key, node] of base) {
    const now = local.nodes.get(key)
    if (node.kind !== 'file' || (now?.kind === 'file' && now.sha256 === node.sha256)) continue
    sizes.add(node.size)
    const hashed = remembered.get(key)
    if (hashed) byInode.set(hashed.id.ino, hashed)
  }
  return { sizes, byInode }
}
