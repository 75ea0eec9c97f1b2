import { existsSync } from 'node:fs'
import type { Clock } from '../../base/clock.ts'
import { copyFile } from '../row-copy/place.ts'
import { openRowCopy } from '../row-copy/row-copy.ts'
import type { Failure, Summary } from './events.ts'
import { findMoves } from './candidates.ts'
import { topmost } from './follow.ts'
import { fillHashes } from './hashing.ts'
import { heldBack } from './holds.ts'
import { makeIgnoreRules } from './ignore-rules.ts'
import { leaveOutIgnored } from './ignored.ts'
import { isLocked } from './lock.ts'
import type { Inodes } from './pairs.ts'
import { placeOf } from './paths.ts'
import { see } from './placing.ts'
import { openRoot, ownFile, type Owner } from './root.ts'
import { foldsCase, scan } from './scan.ts'
import { openToLook } from './session.ts'
import { shiftMap } from './shift.ts'
import type { Copied } from './state.ts'
import {
  emptyTree,
  isUncertain,
  keyOf,
  skipCodes,
  type BaseTree,
  type Ignored,
  type LocalNode,
  type Skipped,
  type Tree,
} from './tree.ts'
import { isWatched } from './watch.ts'

/** How a folder stands, as far as can be told without asking the server. */
export interface Status {
  root: string
  url: string
  username: string
  /** Whether a run is at work now. */
  running: boolean
  /** Whether a `svc sync --watch` looks after it. */
  watched: boolean
  /** The last run that came to its end, and why a later one did not. */
  last_run: (Summary & { at: number }) | null
  last_failure: Failure | null
  /** What both sides held at their last agreement. */
  agreed: { files: number; folders: number }
  /** What the next run will send, if nothing changes on the server. */
  pending: Pending[]
  /** What rules ignore here, with the rule. */
  ignored: Ignored[]
  /** What no run synchronises, and what the last one could not. */
  skipped: (Skipped & { message: string })[]
  /** Conflict copies that nobody has decided about. */
  conflicts: Copied[]
  /** The account's rows; null when none are kept here. */
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

/** Something that changed here; `from` is where something that was moved came from. */
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

/** Looks at a folder and what is known of it, changing nothing. Throws `Refused` when it is not the one that was set up. */
export async function readStatus({ path, stateFolder, clock }: StatusOptions): Promise<Status> {
  const root = await openRoot(path, stateFolder)
  const running = isLocked(ownFile(root.path, 'lock'))
  const { state, close } = openToLook(root, running)
  try {
    const base = state.base()
    const fold = foldsCase(root.path)
    const local = await scan({ root: root.path, fold, base, rules: makeIgnoreRules(fold) })
    for (const key of leaveOutIgnored(base, local, emptyTree())) base.delete(key)
    const looking = { commit: () => undefined, hashes: () => state.hashes() }
    const holds = state.holds()
    const also = new Set(holds.map(({ key }) => key))
    const { inodes } = await fillHashes({
      root: root.path,
      base,
      local,
      remote: emptyTree(),
      state: looking,
      also,
      clock,
    })
    // What stays on the server only was found so by the last run.
    const back = heldBack(
      holds.filter(({ side }) => side === 'here'),
      { base, local, remote: emptyTree() },
    )
    local.skipped.push(...back.skipped)
    const last_run = state.get<Summary & { at: number }>('last_run') ?? null
    const kinds = [...base.values()].map(({ kind }) => kind)
    const skipped = [
      ...local.skipped.map((each) => ({ ...each, message: skipCodes[each.code] })),
      ...(last_run?.skipped ?? []),
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
      conflicts: state.conflicts().filter(({ copy }) => see(placeOf(root.path, copy))),
      rows: rowStatus(copyFile(stateFolder, root.registered), root.registered, clock),
      skipped: [...new Map(skipped.map((each) => [`${each.code} ${each.path}`, each])).values()],
    }
  } finally {
    close()
  }
}

function rowStatus(file: string, { server_id, user_id }: Owner, clock: Clock): RowStatus | null {
  if (!existsSync(file)) return null
  const { copy } = openRowCopy(file, { server_id, user_id }, clock)
  try {
    return { ...copy.count(), as_of: copy.place()?.asked ?? null }
  } finally {
    copy.close()
  }
}

function pendingChanges(base: BaseTree, local: Tree<LocalNode>, inodes: Inodes): Pending[] {
  const pending: Pending[] = []
  const moves = topmost(findMoves(base, local, inodes))
  // Compared with what both sides will agree on once the moves have been followed.
  const after = new Map(base)
  shiftMap(after, new Map(moves.map(({ from, to }) => [from, { to, path: local.nodes.get(to)!.path }])))
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
