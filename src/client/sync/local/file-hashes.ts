import { open, type FileHandle } from 'node:fs/promises'
import { errorCode } from '../../../base/errors.ts'
import type { Clock } from '../../../base/clock.ts'
import { hashInline } from '../../../host/hash-job.ts'
import type { Hasher } from '../../../host/hasher.ts'
import { UNTRUSTED } from '../../../host/regular-file.ts'
import { Changed } from '../sync-errors.ts'
import { CHUNK, hashedChunks } from './chunk-hashes.ts'
import type { Inodes } from '../plan/rename-matches.ts'
import { identityOf } from './scan.ts'
import type { Hashed, State } from '../state/sync-state.ts'
import {
  nameOf,
  sameIdentity,
  type BaseTree,
  type Identity,
  type LocalFile,
  type LocalNode,
  type RemoteNode,
  type Tree,
} from '../plan/sync-tree.ts'
import { toLocalPath } from '../../files/local-path.ts'
import { isCopyName } from '../plan/conflict-names.ts'

const CONCURRENCY = 8
/** Two changes of a file within this distance can leave the same time (FAT: 2 seconds); git calls this "racily clean". */
const RACY_NS = 2_000_000_000n
/** As long as the longest chunk. */
const ZEROS = Buffer.alloc(CHUNK)

/** Opens a file for reading without following links or blocking on pipes; throws `Changed` if it is not the expected file. */
export async function openExpected(place: string, expected: Identity): Promise<FileHandle> {
  const file = await open(place, UNTRUSTED)
  try {
    await assertSame(file, expected)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Throws `Changed` if an open file is not the expected one. */
export async function assertSame(file: FileHandle, expected: Identity): Promise<void> {
  const stats = await file.stat({ bigint: true })
  if (!stats.isFile() || !sameIdentity(identityOf(stats), expected)) throw new Changed('local')
}

/** Hashes a file, a large one on the hasher's thread if there is one; throws `Changed` if it is modified meanwhile. */
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

/** Whether a stored hash is still valid for a file. */
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
  /** Keys whose content is needed although neither side knows them. */
  also?: ReadonlySet<string>
  clock: Clock
  signal?: AbortSignal | undefined
  hasher?: Hasher
}

/** Hashes stored per commit. */
const GROUP = 10_000

/**
 * Determines the content of local files where a decision depends on it: from remembered hashes if the file looks
 * unchanged, else by reading it. A file unknown to base and remote is read only once, on upload, unless its size
 * suggests a move, its name a conflict copy, or it may meet a new remote item of its name in a moved folder. Returns how many files were read, and the inodes of previously read
 * files.
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
      // The file exists but its content is unknown: nothing is decided about it.
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
  const met = fresh.length > 0 ? namesOfNew(parts) : new Set<string>()
  const suspect: string[] = []
  for (const key of fresh) {
    const node = local.nodes.get(key) as LocalFile
    const before = byInode.get(node.id.ino)
    // In a renamed folder files are unchanged, including their ctime.
    if (before && holds(before, node.id)) {
      node.sha256 = before.sha256
      node.blank = before.blank
      learn(key, before)
    } else if (sizes.has(node.id.size) || met.has(nameOf(key))) suspect.push(key)
  }
  await eachOf(suspect, fill)
  const stale = [...former.keys()].filter((key) => !base.has(key) && !local.nodes.has(key))
  state.commit([...learnt, ...stale.map((forgetHash) => ({ forgetHash }))])
  return { read: unread.length + suspect.length, inodes: inodesOf(local, known, former) }
}

/** Reuses hashes of files that look unchanged (`known` keys). Those of changed or deleted files are `former`. */
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

/** Reuses the string of an equal checksum in another tree. */
function shared(base: BaseTree, remote: Tree<RemoteNode>, key: string, sha256: string): string {
  for (const node of [base.get(key), remote.nodes.get(key)]) {
    if (node?.kind === 'file' && node.sha256 === sha256) return node.sha256
  }
  return sha256
}

/** Inodes of files at the time of hashing, derived without another table. */
const inodesOf = (local: Tree<LocalNode>, known: ReadonlySet<string>, former: ReadonlyMap<string, Hashed>): Inodes => ({
  get(key) {
    if (!known.has(key)) return former.get(key)?.id.ino
    const node = local.nodes.get(key)
    return node?.kind === 'file' ? node.id.ino : undefined
  },
})

/** Processes items a few at a time, and throws the first error after all started ones have ended. */
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
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  if (failed) throw failed.error
}

/** Names of items that are new on the server: where one side renamed a folder, they may meet local ones at another path. */
function namesOfNew({ base, local, remote }: Parts): Set<string> {
  const names = new Set<string>()
  if (base.size === 0) return names
  for (const key of remote.nodes.keys()) if (!base.has(key) && !local.nodes.has(key)) names.add(nameOf(key))
  return names
}

/** Base entries that are no longer at their path: their sizes, and remembered hashes by inode. */
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
