import { existsSync } from 'node:fs'
import type { Clock } from '../../base/clock.ts'
import { isLocked } from '../../host/file-lock.ts'
import { replicaFile } from '../replica/replica-file.ts'
import { openReplica } from '../replica/replica.ts'
import type { Failure, Summary } from './report/events.ts'
import { splitSkipped } from './report/summary.ts'
import { findMoves } from './plan/rename-candidates.ts'
import { topmostMoves } from './plan/feasible-moves.ts'
import { fillHashes } from './local/file-hashes.ts'
import { findPostponed } from './plan/postponed.ts'
import { makeIgnoreRules } from './local/ignore-rules.ts'
import { removeIgnored } from './plan/ignored-paths.ts'
import type { Inodes } from './plan/rename-matches.ts'
import { lstatPath } from './local/file-operations.ts'
import { openRoot, ownFile } from './state/root.ts'
import { foldsCase, scan } from './local/scan.ts'
import { openReadOnly } from './state/sync-session.ts'
import { remapMap } from './plan/path-remap.ts'
import type { Copied } from './state/sync-state.ts'
import {
  emptyTree,
  isNeverSynchronised,
  isUncertain,
  keyOf,
  skipCodes,
  type BaseTree,
  type Ignored,
  type LocalNode,
  type Skipped,
  type Tree,
} from './plan/sync-tree.ts'
import { isWatched } from './watch.ts'
import type { AccountIdentity } from '../auth/account-identity.ts'
import { toLocalPath } from '../files/local-path.ts'

/** The state of a folder, as far as it is known without the server. */
export interface Status {
  root: string
  url: string
  username: string
  /** Whether a run is active. */
  running: boolean
  /** Whether a `svc sync --watch` covers it. */
  watched: boolean
  /** The last completed run, and why a later one failed. */
  last_run: (Summary & { at: number }) | null
  last_failure: Failure | null
  /** What both sides held at their last agreement. */
  agreed: { files: number; folders: number }
  /** What the next run will upload, unless the server changes. */
  pending: Pending[]
  /** Locally ignored paths, with the rule. */
  ignored: Ignored[]
  /** Items that no run synchronises, and failures of the last run. */
  skipped: (Skipped & { message: string })[]
  /** Links and special files that a run has reported already. */
  left_out: Skipped[]
  conflicts: Copied[]
  /** The account's rows; null if there is no replica. */
  rows: RowStatus | null
}

export interface RowStatus {
  /** Changes that the server does not have yet. */
  waiting: number
  /** Changes that need a decision. */
  conflicts: number
  refused: number
  /** When the server last confirmed them, in milliseconds since the epoch. */
  as_of: number | null
}

/** A local change; `from` is the source of a move. */
export interface Pending {
  path: string
  change: 'new' | 'changed' | 'deleted' | 'moved'
  from?: string
}

interface StatusOptions {
  path: string
  stateFolder: string
  clock: Clock
}

/** Inspects a folder and its state without changing them. Throws `Refused` if it is not the one that was set up. */
export async function readStatus({ path, stateFolder, clock }: StatusOptions): Promise<Status> {
  const root = await openRoot(path, stateFolder)
  const running = isLocked(ownFile(root.path, 'lock'))
  const { state, close } = openReadOnly(root, running)
  try {
    const base = state.base()
    const fold = foldsCase(root.path)
    const local = await scan({ root: root.path, fold, base, rules: makeIgnoreRules(fold) })
    for (const key of removeIgnored(base, local, emptyTree())) base.delete(key)
    const reader = { commit: () => undefined, hashes: () => state.hashes() }
    const holds = state.postponed()
    const also = new Set(holds.map(({ key }) => key))
    const { inodes } = await fillHashes({
      root: root.path,
      base,
      local,
      remote: emptyTree(),
      state: reader,
      also,
      clock,
    })
    // Paths that stay on the server only were found by the last run.
    const back = findPostponed(
      holds.filter(({ side }) => side === 'here'),
      { base, local, remote: emptyTree() },
    )
    local.skipped.push(...back.skipped)
    const last_run = state.get<Summary & { at: number }>('last_run') ?? null
    const kinds = [...base.values()].map(({ kind }) => kind)
    const found = splitSkipped(local.skipped, last_run)
    const skipped = [
      ...found.skipped.map((each) => ({ ...each, message: skipCodes[each.code] })),
      ...(last_run?.skipped ?? []).filter((each) => !isNeverSynchronised(each)),
    ]
    return {
      root: root.path,
      url: root.registered.url,
      username: root.registered.username,
      running,
      watched: isWatched(root.path),
      last_run,
      last_failure: state.get<Failure | null>('last_failure') ?? null,
      agreed: {
        files: kinds.filter((kind) => kind === 'file').length,
        folders: kinds.filter((kind) => kind === 'dir').length,
      },
      pending: pendingChanges(base, local, inodes).filter(({ path }) => !back.keys.has(keyOf(path, fold))),
      ignored: [...local.ignored.values()],
      conflicts: state.conflicts().filter(({ copy }) => lstatPath(toLocalPath(root.path, copy))),
      rows: rowStatus(replicaFile(stateFolder, root.registered), root.registered, clock),
      skipped: [...new Map(skipped.map((each) => [`${each.code} ${each.path}`, each])).values()],
      left_out: found.left_out,
    }
  } finally {
    close()
  }
}

function rowStatus(file: string, { server_id, user_id }: AccountIdentity, clock: Clock): RowStatus | null {
  if (!existsSync(file)) return null
  const { copy } = openReplica(file, { server_id, user_id }, clock)
  try {
    return { ...copy.count(), as_of: copy.place()?.asked ?? null }
  } finally {
    copy.close()
  }
}

function pendingChanges(base: BaseTree, local: Tree<LocalNode>, inodes: Inodes): Pending[] {
  const pending: Pending[] = []
  const moves = topmostMoves(findMoves(base, local, inodes))
  // Compared with base after applying the moves.
  const after = new Map(base)
  remapMap(after, new Map(moves.map(({ from, to }) => [from, { to, path: local.nodes.get(to)!.path }])))
  for (const { from, to } of moves) {
    pending.push({ path: local.nodes.get(to)!.path, change: 'moved', from: base.get(from)!.path })
  }
  for (const [key, node] of local.nodes) {
    if (node.kind === 'other') continue
    const before = after.get(key)
    if (!before) pending.push({ path: node.path, change: 'new' })
    else if (before.kind !== node.kind) pending.push({ path: node.path, change: 'changed' })
    else if (before.kind === 'file' && node.kind === 'file' && before.sha256 !== node.sha256) {
      pending.push({ path: node.path, change: 'changed' })
    }
  }
  for (const [key, { path }] of after) {
    if (!local.nodes.has(key) && !isUncertain(local, key)) pending.push({ path, change: 'deleted' })
  }
  return pending.sort((a, b) => (a.path < b.path ? -1 : 1))
}
