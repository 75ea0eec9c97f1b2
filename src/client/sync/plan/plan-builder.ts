import type { Inodes } from './rename-matches.ts'
import { foldersOver, remoteName } from './paths.ts'
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
} from './tree.ts'
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
  /** As the local side spells it. */
  here: string
  /** As the server spells it. */
  there: string
}

interface Moving {
  from: Place
  kind: 'file' | 'dir'
  /** The local file: where it is to be moved from, or where it was moved to. */
  id: Identity | undefined
  /** Files that move with it; 1 for a file. */
  files: number
  /** Keys below it, as they are afterwards, that the side that follows had deleted: who moved them keeps them, as something new. */
  kept: string[]
  /** Moves with the same number take each other's places: they are done together. */
  cycle: number | undefined
}

interface Actions {
  /** Both sides moved it to the same place: only base follows. */
  'move-base': { from: Place; kind: 'file' | 'dir' }
  /** Renames here what was moved on the server; or, with `undo`, takes back a move of the user's that base and server know nothing of. */
  'move-local': Moving & { undo: boolean }
  /** Moves on the server what was moved here; `sha256` is the content that both sides agreed on. */
  'move-remote': Moving & { sha256: string | undefined }
  /** Both sides agree: only base is brought up to date. */
  record: { node: BaseNode }
  /** Both sides have it no more. */
  forget: object
  /** Gives the local file the server's modification time. */
  touch: { id: Identity; file: FileState }
  /** Renames what is here to `to`, so that the server's version can have the path. */
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

/** What is to be done about one path. Each is checked again, against the disk and by the server, when it is done. */
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
  /** Stands in the names of conflict copies, with the date (`YYYY-MM-DD`). */
  device: string
  date: string
  /** Excluded keys: what failed in this run, or is postponed. */
  excluded?: ReadonlySet<string>
  /** Numbers of the files that were here at the last agreement, by key: they tell a renamed file from a copy. */
  inodes?: Inodes
}

export type LocalEntry = LocalFile | LocalFolder
export type RemoteEntry = RemoteFile | (RemoteNode & { kind: 'dir' })

/** Builds a plan: the operations so far, and what they mean for the folders above. */
export interface PlanBuilder extends PlanInput {
  /** Folders in which something stays or comes into being: they are needed on both sides. */
  needed: Set<string>
  /** Folders in which something stays on one side only: they are neither deleted nor made because of it. */
  occupied: Set<string>
  add(op: Op): void
  place(key: string): Place
  skip(key: string, path: string, code: SkipCode): void
  removeLocal(key: string, l: LocalEntry, reason: Reason): void
  removeRemote(key: string, r: RemoteEntry, reason: Reason): void
  /** Renames the local side to a conflict copy; false when a copy with its content exists already. */
  renameToConflictCopy(key: string, l: LocalEntry): boolean
  /** Leaves everything below to the next plan. */
  deferBelow(key: string): void
  result(): Plan
}

type Paths = ReadonlyMap<string, { path: string }>

const asItIs = (name: string): string => name

/** Spells keys as one side does: its own spelling where it has the path, the other side's, fitted to this one, for what it lacks. */
export function speller(own: Paths, other: Paths, base: Paths, fitted = asItIs): (key: string) => string {
  const known = new Map<string, string>([[ROOT, ROOT]])
  const spell = (key: string): string => {
    const path = own.get(key)?.path ?? known.get(key)
    if (path !== undefined) return path
    const model = other.get(key)?.path ?? base.get(key)?.path ?? key
    const folder = parentOf(key)
    const over = known.get(folder) ?? spell(folder)
    known.set(folder, over)
    // The text that is there already does, where it says the same.
    const name = nameOf(model)
    const fit = fitted(name)
    return parentOf(model) === over && fit === name ? model : childOf(over, fit)
  }
  return spell
}

/** A name for the local side of a conflict that nobody has yet; undefined when that name holds its content already. */
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
        deferred.size > 0 && foldersOver(key).some((folder) => deferred.has(folder))
      return { ops: ops.filter(({ op, key }) => op === 'forget' || !waits(key)), skipped }
    },
  }
}
