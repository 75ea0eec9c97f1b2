import {
  makePlanBuilder,
  type PlanBuilder,
  type LocalEntry,
  type Plan,
  type PlanInput,
  type Reason,
  type RemoteEntry,
} from './plan-builder.ts'
import { planMoves } from './move-plan.ts'
import {
  isBelow,
  isUncertain,
  parentOf,
  secondsOf,
  type BaseNode,
  type FileState,
  type Identity,
  type LocalFile,
  type LocalFolder,
  type RemoteFile,
  type Tree,
} from './sync-tree.ts'

/**
 * Decides how to synchronise both sides: a pure function of three trees. Content decides, never time. An edit beats a
 * deletion. If both sides changed, the server's version keeps the path and the local one becomes a conflict copy; equal
 * changes are no conflict. Renames are moves. Nothing is deleted unless its absence on the other side is certain. A
 * plan may need another one after it, for example when a folder replaces a file.
 */
export function plan(input: PlanInput): Plan {
  const moves = planMoves(input)
  const { base, local, remote } = moves.after
  const builder = makePlanBuilder(moves.after)
  const keys = [...base.keys()]
  for (const key of local.nodes.keys()) if (!base.has(key)) keys.push(key)
  for (const key of remote.nodes.keys()) if (!base.has(key) && !local.nodes.has(key)) keys.push(key)
  // In reverse: the contents of a folder are decided before the folder.
  for (const key of keys.sort().reverse()) decide(builder, key)
  const { ops, skipped } = builder.result()
  return { ops: [...moves.ops, ...ops], skipped }
}

function decide(builder: PlanBuilder, key: string): void {
  const b = builder.base.get(key)
  const l = builder.local.nodes.get(key)
  const r = builder.remote.nodes.get(key)
  const staysAlone = (): void => void builder.occupied.add(parentOf(key))

  if (builder.excluded?.has(key)) return staysAlone()
  if (l?.kind === 'other' || r?.kind === 'other') {
    // The tree reports it; this reports only what it blocks. A file that could not be read is no obstacle to itself.
    const isUnread = l?.kind === 'other' && (l.code === 'unreadable' || l.code === 'busy')
    if (l && !isUnread && r && r.kind !== 'other') builder.skip(key, r.path, 'in_the_way')
    return staysAlone()
  }
  if (l && r) return onBothSides(builder, key, b, l, r)
  if (!l && isUncertain(builder.local, key)) return staysAlone()
  // A new file can be uploaded anyway: the server accepts it only if the path is free.
  if (!r && isUncertain(builder.remote, key) && (b || l?.kind !== 'file')) return staysAlone()
  if (l) onlyLocal(builder, key, b, l)
  else if (r) onlyRemote(builder, key, b, r)
  else builder.add({ op: 'forget', ...builder.place(key) })
}

const upload = (builder: PlanBuilder, key: string, local: LocalFile, reason: Reason, over?: string): void =>
  builder.add({ op: 'upload', reason, ...builder.place(key), local, over })

const download = (builder: PlanBuilder, key: string, r: RemoteFile, reason: Reason, over?: Identity): void =>
  builder.add({ op: 'download', reason, ...builder.place(key), file: stateOf(r), over })

function onlyLocal(builder: PlanBuilder, key: string, b: BaseNode | undefined, l: LocalEntry): void {
  if (l.kind === 'file') {
    const unchanged = b?.kind === 'file' && (l.sha256 === b.sha256 || isDamaged(l, b))
    if (unchanged) builder.removeLocal(key, l, 'deleted_there')
    else upload(builder, key, l, b ? 'kept_here' : 'new_here')
  } else if (b?.kind !== 'dir' || builder.needed.has(key)) {
    builder.add({ op: 'make-remote', reason: b ? 'kept_here' : 'new_here', ...builder.place(key) })
  } else if (builder.occupied.has(key)) keep(builder, key, l.path, builder.local)
  else builder.removeLocal(key, l, 'deleted_there')
}

function onlyRemote(builder: PlanBuilder, key: string, b: BaseNode | undefined, r: RemoteEntry): void {
  if (r.kind === 'file') {
    if (b?.kind === 'file' && r.sha256 === b.sha256) builder.removeRemote(key, r, 'deleted_here')
    else download(builder, key, r, b ? 'kept_there' : 'new_there')
  } else if (b?.kind !== 'dir' || builder.needed.has(key)) {
    builder.add({ op: 'make-local', reason: b ? 'kept_there' : 'new_there', ...builder.place(key) })
  } else if (builder.occupied.has(key)) keep(builder, key, r.path, builder.remote)
  else builder.removeRemote(key, r, 'deleted_here')
}

/** Keeps a folder that should be deleted but contains unsynchronised items. */
function keep(builder: PlanBuilder, key: string, path: string, tree: Tree<unknown>): void {
  // Reported once, for the containing folder; its parents are kept too.
  if (tree.occupied.has(key)) builder.skip(key, path, 'kept')
  else builder.occupied.add(parentOf(key))
}

function onBothSides(builder: PlanBuilder, key: string, b: BaseNode | undefined, l: LocalEntry, r: RemoteEntry): void {
  builder.needed.add(parentOf(key))
  if (l.kind === 'file' && r.kind === 'file') twoFiles(builder, key, b, l, r)
  else if (l.kind !== r.kind && isDoubtful(builder, key)) {
    builder.deferBelow(key)
    builder.skip(key, r.path, 'in_the_way')
  } else if (l.kind === 'file') fileAndFolder(builder, key, b, l, r)
  else if (r.kind === 'file') folderAndFile(builder, key, b, l, r)
  else if (b?.kind !== 'dir') builder.add({ op: 'record', ...builder.place(key), node: { kind: 'dir', path: r.path } })
}

function twoFiles(builder: PlanBuilder, key: string, b: BaseNode | undefined, l: LocalFile, r: RemoteFile): void {
  const before = b?.kind === 'file' ? b : undefined
  if (l.sha256 === r.sha256) return alike(builder, key, before, l, r)
  if (before && isDamaged(l, before)) {
    builder.skip(key, l.path, 'damaged')
    return download(builder, key, r, 'damaged', l.id)
  }
  if (before && l.sha256 === before.sha256) return download(builder, key, r, 'changed_there', l.id)
  if (before && r.sha256 === before.sha256) return upload(builder, key, l, 'changed_here', r.sha256)
  const renamed = builder.renameToConflictCopy(key, l)
  download(builder, key, r, 'both_changed', renamed ? undefined : l.id)
}

/** Equal contents: at most the times are synchronised, without a transfer. */
function alike(builder: PlanBuilder, key: string, before: FileState | undefined, l: LocalFile, r: RemoteFile): void {
  const known = before?.sha256 === r.sha256
  if (known && before.mtime === r.mtime) return
  const place = builder.place(key)
  const untouched = known && secondsOf(l.id.mtimeNs) === before.mtime
  if (untouched) builder.add({ op: 'touch', reason: 'retimed_there', ...place, id: l.id, file: stateOf(r) })
  else builder.add({ op: 'record', ...place, node: { path: r.path, ...stateOf(r) } })
}

function fileAndFolder(builder: PlanBuilder, key: string, b: BaseNode | undefined, l: LocalFile, r: RemoteEntry): void {
  if (b?.kind === 'file' && l.sha256 === b.sha256) {
    builder.deferBelow(key)
    return builder.removeLocal(key, l, 'replaced_there')
  }
  if (isUnchangedFolder(builder, key, b)) return builder.removeRemote(key, r, 'replaced_here')
  builder.renameToConflictCopy(key, l)
  builder.add({ op: 'make-local', reason: 'both_changed', ...builder.place(key) })
}

function folderAndFile(
  builder: PlanBuilder,
  key: string,
  b: BaseNode | undefined,
  l: LocalFolder,
  r: RemoteFile,
): void {
  if (isUnchangedFolder(builder, key, b)) return builder.removeLocal(key, l, 'replaced_there')
  builder.deferBelow(key)
  if (b?.kind === 'file' && r.sha256 === b.sha256) return builder.removeRemote(key, r, 'replaced_here')
  builder.renameToConflictCopy(key, l)
  download(builder, key, r, 'both_changed')
}

/** Whether a listing is incomplete at, above or below a key: then nothing there is replaced. */
const isDoubtful = ({ local, remote }: PlanBuilder, key: string): boolean =>
  [local, remote].some((tree) => isUncertain(tree, key) || [...tree.incomplete].some((at) => isBelow(at, key)))

/** Whether everything that a folder held at the last agreement is deleted, and nothing was added. */
const isUnchangedFolder = (builder: PlanBuilder, key: string, b: BaseNode | undefined): boolean =>
  b?.kind === 'dir' && !builder.needed.has(key) && !builder.occupied.has(key)

const stateOf = ({ sha256, size, mtime }: FileState): FileState => ({ kind: 'file', sha256, size, mtime })

/** Whether a file has only zeros and the agreed time: lost in a power cut, not edited (nextcloud/desktop#10547). */
const isDamaged = (l: LocalFile, b: FileState): boolean =>
  (l.id.size === 0 || l.blank) && b.size > 0 && l.sha256 !== b.sha256 && secondsOf(l.id.mtimeNs) === b.mtime
