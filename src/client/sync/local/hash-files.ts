import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { errorCode } from '../../../base/errors.ts'
import type { Clock } from '../../../base/clock.ts'
import { hashInline } from '../../../host/hash-job.ts'
import type { Hasher } from '../../../host/hasher.ts'
import { Changed } from '../sync-errors.ts'
import { CHUNK, hashedChunks } from './hash-chunks.ts'
import type { Inodes } from '../plan/rename-matches.ts'
import { identityOf } from './scan.ts'
import type { Hashed, State } from '../state/store.ts'
import {
  sameIdentity,
  type BaseTree,
  type Identity,
  type LocalFile,
  type LocalNode,
  type RemoteNode,
  type Tree,
} from '../plan/tree.ts'
import { toLocalPath } from '../../local-path.ts'
import { isCopyName } from '../plan/conflict-names.ts'

const AT_ONCE = 8
/** Distance within which two changes of a file may leave the same time on it (FAT keeps 2 seconds); git's "racily clean". */
const RACY_NS = 2_000_000_000n
/** As long as the longest chunk. */
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
  if (!stats.isFile() || !sameIdentity(identityOf(stats), expected)) throw new Changed('local')
}

/** Hashes a file in one pass, a large one on the hasher's thread if there is one; `Changed` when it does not stand still. */
export async function hashFile(
  place: string,
  expected: Identity,
  hasher?: Hasher,
): Promise<{ sha256: string; blank: boolean }> {
  const file = await openExpected(place, expected)
  const job = hasher?.start(expected.size) ?? hashInline()
  try {
    let blank = true
    for await (const chunk of hashedChunks(file, expected.size, job)) {
      blank &&= chunk.equals(ZEROS.subarray(0, chunk.length))
    }
    await assertSame(file, expected)
    return { sha256: await job.digest(), blank }
  } finally {
    await job.abandon()
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
  state: Pick<State, 'commit' | 'hashes'>
  /** Keys whose content matters, although neither side knows of it. */
  also?: ReadonlySet<string>
  clock: Clock
  signal?: AbortSignal | undefined
  hasher?: Hasher
}

/** Learnt hashes that are written down together. */
const GROUP = 10_000

/**
 * Finds out the contents of local files where a decision depends on them, from memory where the file looks as it did, else
 * by reading it. A file that neither base nor remote knows is sent whatever it holds, so it is read once, when it is sent;
 * except where its size says that it may be one that has moved, or its name that it is a conflict copy. Returns how many files were
 * read, and the numbers that files had when their contents were read before.
 */
export async function fillHashes(parts: Parts): Promise<{ read: number; inodes: Inodes }> {
  const { root, base, local, remote, state, also, clock, signal, hasher } = parts
  const { known, former } = recall(parts)
  let learnt: { hash: string; hashed: Hashed }[] = []
  const learn = (hash: string, hashed: Hashed): void => {
    learnt.push({ hash, hashed })
    if (learnt.length < GROUP) return
    state.commit(learnt)
    learnt = []
  }

  async function fill(key: string): Promise<void> {
    signal?.throwIfAborted()
    const node = local.nodes.get(key) as LocalFile
    const at = clock.now()
    try {
      const content = await hashFile(toLocalPath(root, node.path), node.id, hasher)
      node.sha256 = shared(base, remote, key, content.sha256)
      node.blank = content.blank
      learn(key, { id: node.id, sha256: node.sha256, blank: node.blank, at })
    } catch (error) {
      // It is there, but what it holds is not known: nothing is decided about it.
      const reason = errorCode(error) || String(error)
      const moving = error instanceof Changed || ['ENOENT', 'ELOOP'].includes(reason)
      const code = moving ? 'busy' : 'unreadable'
      local.nodes.set(key, { kind: 'other', path: node.path, code })
      local.incomplete.add(key)
      local.skipped.push(moving ? { path: node.path, code } : { path: node.path, code, detail: reason })
    }
  }

  const unread: string[] = []
  const fresh: string[] = []
  for (const [key, node] of local.nodes) {
    if (node.kind !== 'file' || known.has(key)) continue
    const matters = base.has(key) || remote.nodes.has(key) || also?.has(key) || isCopyName(node.path)
    if (matters) unread.push(key)
    else fresh.push(key)
  }
  await eachOf(unread, fill)

  const { sizes, byInode } = goneFiles(base, local, former)
  const suspect: string[] = []
  for (const key of fresh) {
    const node = local.nodes.get(key) as LocalFile
    const before = byInode.get(node.id.ino)
    // In a folder that was renamed the files are what they were, to the time of their last change.
    if (before && holds(before, node.id)) {
      node.sha256 = before.sha256
      node.blank = before.blank
      learn(key, before)
    } else if (sizes.has(node.id.size)) suspect.push(key)
  }
  await eachOf(suspect, fill)
  const stale = [...former.keys()].filter((key) => !base.has(key) && !local.nodes.has(key))
  state.commit([...learnt, ...stale.map((forgetHash) => ({ forgetHash }))])
  return { read: unread.length + suspect.length, inodes: inodesOf(local, known, former) }
}

/**
 * Takes over what is remembered of files that look as they did: their keys are `known`. The rest of what is remembered, of files that
 * changed or are gone, is `former`.
 */
function recall({ base, local, remote, state }: Parts): { known: Set<string>; former: Map<string, Hashed> } {
  const known = new Set<string>()
  const former = new Map<string, Hashed>()
  for (const { key, hashed } of state.hashes()) {
    const node = local.nodes.get(key)
    if (node?.kind !== 'file' || !holds(hashed, node.id)) {
      former.set(key, hashed)
      continue
    }
    node.sha256 = shared(base, remote, key, hashed.sha256)
    node.blank = hashed.blank
    known.add(node.path === key ? node.path : key)
  }
  return { known, former }
}

/** A checksum as the text that one of the other trees has already, if it is the same. */
function shared(base: BaseTree, remote: Tree<RemoteNode>, key: string, sha256: string): string {
  for (const node of [base.get(key), remote.nodes.get(key)]) {
    if (node?.kind === 'file' && node.sha256 === sha256) return node.sha256
  }
  return sha256
}

/** The numbers of files as they were when their contents were read, without a table of their own. */
const inodesOf = (local: Tree<LocalNode>, known: ReadonlySet<string>, former: ReadonlyMap<string, Hashed>): Inodes => ({
  get(key) {
    if (!known.has(key)) return former.get(key)?.id.ino
    const node = local.nodes.get(key)
    return node?.kind === 'file' ? node.id.ino : undefined
  },
})

/** Does something with each, a few at a time, and throws the first error once all that were begun have ended. */
async function eachOf(keys: readonly string[], work: (key: string) => Promise<void>): Promise<void> {
  let at = 0
  let failed: { error: unknown } | undefined
  async function worker(): Promise<void> {
    while (at < keys.length && !failed) {
      try {
        await work(keys[(at += 1) - 1]!)
      } catch (error) {
        failed ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  if (failed) throw failed.error
}

/** What base knows and what is not where it was any more: sizes to look for, and what was remembered of each file by its number. */
function goneFiles(
  base: BaseTree,
  local: Tree<LocalNode>,
  former: ReadonlyMap<string, Hashed>,
): { sizes: Set<number>; byInode: Map<bigint, Hashed> } {
  const sizes = new Set<number>()
  const byInode = new Map<bigint, Hashed>()
  for (const [key, node] of base) {
    const now = local.nodes.get(key)
    if (node.kind !== 'file' || (now?.kind === 'file' && now.sha256 === node.sha256)) continue
    sizes.add(node.size)
    const hashed = former.get(key)
    if (hashed) byInode.set(hashed.id.ino, hashed)
  }
  return { sizes, byInode }
}
