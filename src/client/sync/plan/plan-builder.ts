import type { Inodes } from './rename-matches.ts'
import { foldersAbove, remoteName } from './reserved-paths.ts'
import {
  childOf,
  isUncertain,
  keyOf,
  nameOf,
  parentOf,
  ROOT,
  type BaseNode,
  type BaseTree,
  type FileState,
  type Identity,
  type LocalFile,
  type LocalFolder,
  type LocalNode,
  type RemoteFile,
  type RemoteNode,
  type SkipCode,
  type Skipped,
  type Tree,
} from './sync-tree.ts'
import { conflictName } from './conflict-names.ts'

/** Why an operation is planned. */
export type Reason =
  | 'new_here'
  | 'new_there'
  | 'changed_here'
  | 'changed_there'
  | 'deleted_here'
  | 'deleted_there'
  | 'kept_here'
  | 'kept_there'
  | 'both_changed'
  | 'replaced_here'
  | 'replaced_there'
  | 'retimed_there'
  | 'damaged'
  | 'moved_here'
  | 'moved_there'
  | 'moved_apart'

export interface Place {
  key: string
  /** In the local spelling. */
  here: string
  /** In the server's spelling. */
  there: string
}

interface Moving {
  from: Place
  kind: 'file' | 'dir'
  /** The local file: the source of the move, or its target. */
  id: Identity | undefined
  /** Files that move with it; 1 for a file. */
  files: number
  /** New keys of items below that the following side had deleted: the moving side keeps them, as new ones. */
  kept: string[]
  /** Moves with the same number form a cycle: they are executed together. */
  cycle: number | undefined
}

interface Actions {
  /** Both sides moved it to the same place: only base follows. */
  'move-base': { from: Place; kind: 'file' | 'dir' }
  /** Renames locally what was moved on the server; with `undo`, reverts a local move that base and server do not know. */
  'move-local': Moving & { undo: boolean }
  /** Moves on the server what was moved locally; `sha256` is the agreed content. */
  'move-remote': Moving & { sha256: string | undefined }
  /** Both sides agree: only base is brought up to date. */
  record: { node: BaseNode }
  /** Neither side has it any more. */
  forget: object
  /** Gives the local file the server's modification time. */
  touch: { id: Identity; file: FileState }
  /** Renames the local item to `to`, so that the server's version gets the path. */
  'set-aside': { kind: 'file' | 'dir'; to: string; id: Identity | undefined }
  'make-local': object
  'make-remote': object
  /** `over` is the local file it replaces. */
  download: { file: FileState; over: Identity | undefined }
  /** `over` is the content it replaces on the server. */
  upload: { local: LocalFile; over: string | undefined }
  'remove-local': { kind: 'file' | 'dir'; id: Identity | undefined }
  'remove-remote': { kind: 'file' | 'dir'; sha256: string | undefined }
}

/** An operation on one path. Its preconditions are checked again, on disk and by the server, when it is executed. */
export type Op = { [K in keyof Actions]: Place & { op: K; reason?: Reason } & Actions[K] }[keyof Actions]
export type OpOf<K extends keyof Actions> = Extract<Op, { op: K }>

export interface Plan {
  ops: Op[]
  /** What the plan skips, in addition to what the trees left out. */
  skipped: Skipped[]
}

export interface PlanInput {
  base: BaseTree
  local: Tree<LocalNode>
  remote: Tree<RemoteNode>
  /** Whether names that differ only in case are one name here. */
  fold: boolean
  /** Appears in the names of conflict copies, with the date (`YYYY-MM-DD`). */
  device: string
  date: string
  /** Excluded keys: what failed in this run, or is postponed. */
  excluded?: ReadonlySet<string>
  /** Inodes of local files at the last agreement, by key: they distinguish a renamed file from a copy. */
  inodes?: Inodes
}

export type LocalEntry = LocalFile | LocalFolder
export type RemoteEntry = RemoteFile | (RemoteNode & { kind: 'dir' })

/** Builds a plan: its operations, and their consequences for parent folders. */
export interface PlanBuilder extends PlanInput {
  /** Folders that keep or receive items: both sides need them. */
  needed: Set<string>
  /** Folders that something stays in on one side only: they are neither deleted nor created for it. */
  occupied: Set<string>
  add(op: Op): void
  place(key: string): Place
  skip(key: string, path: string, code: SkipCode): void
  removeLocal(key: string, l: LocalEntry, reason: Reason): void
  removeRemote(key: string, r: RemoteEntry, reason: Reason): void
  /** Renames the local side to a conflict copy; false if a copy with its content exists. */
  renameToConflictCopy(key: string, l: LocalEntry): boolean
  /** Leaves everything below to the next plan. */
  deferBelow(key: string): void
  result(): Plan
}

type Paths = ReadonlyMap<string, { path: string }>

const asItIs = (name: string): string => name

/** Spells keys as one side does: its own spelling if it has the path, otherwise the adapted spelling of the other side. */
export function speller(own: Paths, other: Paths, base: Paths, fitted = asItIs): (key: string) => string {
  const known = new Map<string, string>([[ROOT, ROOT]])
  const spell = (key: string): string => {
    const path = own.get(key)?.path ?? known.get(key)
    if (path !== undefined) return path
    const model = other.get(key)?.path ?? base.get(key)?.path ?? key
    const folder = parentOf(key)
    const over = known.get(folder) ?? spell(folder)
    known.set(folder, over)
    // Reuse the existing string if it is equal.
    const name = nameOf(model)
    const fit = fitted(name)
    return parentOf(model) === over && fit === name ? model : childOf(over, fit)
  }
  return spell
}

/** An unused conflict name for the local side; undefined if that name already holds its content. */
function copyName(input: PlanInput, taken: Set<string>, key: string, l: LocalEntry): string | undefined {
  const sha256 = l.kind === 'file' ? l.sha256 : undefined
  for (let attempt = 1; ; attempt += 1) {
    const { device, date } = input
    const name = conflictName({ name: nameOf(l.path), device, date, sha256, attempt })
    const copyKey = keyOf(childOf(parentOf(key), name), input.fold)
    const there = input.local.nodes.get(copyKey)
    if (sha256 !== undefined && there?.kind === 'file' && there.sha256 === sha256) return undefined
    const free = [input.local.nodes, input.remote.nodes, input.base, taken].every((names) => !names.has(copyKey))
    if (!free) continue
    taken.add(copyKey)
    return childOf(parentOf(l.path), name)
  }
}

export function makePlanBuilder(input: PlanInput): PlanBuilder {
  const { base, local, remote } = input
  const ops: Op[] = []
  const skipped: Skipped[] = []
  const needed = new Set<string>()
  const occupied = new Set([...local.occupied, ...remote.occupied])
  const deferred = new Set<string>()
  const taken = new Set<string>()
  const here = speller(local.nodes, remote.nodes, base)
  const there = speller(remote.nodes, local.nodes, base, remoteName)
  const place = (key: string): Place => ({ key, here: here(key), there: there(key) })
  const isCertain = (key: string): boolean => !isUncertain(local, key) && !isUncertain(remote, key)

  function add(op: Op): void {
    ops.push(op)
    if (op.op !== 'forget') needed.add(parentOf(op.key))
  }

  return {
    ...input,
    needed,
    occupied,
    add,
    place,
    skip(key, path, code) {
      skipped.push({ path, code })
      occupied.add(parentOf(key))
    },
    removeLocal(key, l, reason) {
      if (!isCertain(key)) return void occupied.add(parentOf(key))
      const id = l.kind === 'file' ? l.id : undefined
      ops.push({ op: 'remove-local', reason, ...place(key), kind: l.kind, id })
    },
    removeRemote(key, r, reason) {
      if (!isCertain(key)) return void occupied.add(parentOf(key))
      const sha256 = r.kind === 'file' ? r.sha256 : undefined
      ops.push({ op: 'remove-remote', reason, ...place(key), kind: r.kind, sha256 })
    },
    renameToConflictCopy(key, l) {
      const to = copyName(input, taken, key, l)
      if (to === undefined) return false
      const id = l.kind === 'file' ? l.id : undefined
      add({ op: 'set-aside', reason: 'both_changed', ...place(key), kind: l.kind, to, id })
      return true
    },
    deferBelow: (key) => void deferred.add(key),
    result() {
      const waits = (key: string): boolean =>
        deferred.size > 0 && foldersAbove(key).some((folder) => deferred.has(folder))
      return { ops: ops.filter(({ op, key }) => op === 'forget' || !waits(key)), skipped }
    },
  }
}
