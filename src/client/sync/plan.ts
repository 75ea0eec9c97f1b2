import { makeDraft, type Draft, type Here, type Plan, type PlanInput, type Reason, type There } from './draft.ts'
import { planMoves } from './plan-moves.ts'
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
} from './tree.ts'

/**
 * Decides what brings both sides together: a pure function of three trees. Content decides, never time; an edit beats a
 * deletion; where both sides changed, the server's version keeps the path and the local one becomes a conflict copy; equal
 * changes are no conflict; what has only another name is moved, and the rest is planned from where it is then; nothing is deleted
 * whose absence elsewhere is not certain. A plan may need another after it, for
 * example when a folder takes the place of a file: what one plan brought about, the next one plans from.
 */
export function plan(input: PlanInput): Plan {
  const moves = planMoves(input)
  const { base, local, remote } = moves.after
  const draft = makeDraft(moves.after)
  const keys = [...base.keys()]
  for (const key of local.nodes.keys()) if (!base.has(key)) keys.push(key)
  for (const key of remote.nodes.keys()) if (!base.has(key) && !local.nodes.has(key)) keys.push(key)
  // Backwards: what a folder holds is decided before the folder, which then knows whether it is still needed.
  for (const key of keys.sort().reverse()) decide(draft, key)
  const { ops, skipped } = draft.result()
  return { ops: [...moves.ops, ...ops], skipped }
}

function decide(draft: Draft, key: string): void {
  const b = draft.base.get(key)
  const l = draft.local.nodes.get(key)
  const r = draft.remote.nodes.get(key)
  const staysAlone = (): void => void draft.occupied.add(parentOf(key))

  if (draft.held?.has(key)) return staysAlone()
  if (l?.kind === 'other' || r?.kind === 'other') {
    // The tree that found it reports it; here only what cannot come because of it.
    if (l && r && r.kind !== 'other') draft.skip(key, r.path, 'in_the_way')
    return staysAlone()
  }
  if (l && r) return onBothSides(draft, key, b, l, r)
  if (!l && isUncertain(draft.local, key)) return staysAlone()
  // A new file may be sent all the same: the server takes it only where there is nothing.
  if (!r && isUncertain(draft.remote, key) && (b || l?.kind !== 'file')) return staysAlone()
  if (l) onlyHere(draft, key, b, l)
  else if (r) onlyThere(draft, key, b, r)
  else draft.add({ op: 'forget', ...draft.place(key) })
}

const upload = (draft: Draft, key: string, local: LocalFile, reason: Reason, over?: string): void =>
  draft.add({ op: 'upload', reason, ...draft.place(key), local, over })

const download = (draft: Draft, key: string, r: RemoteFile, reason: Reason, over?: Identity): void =>
  draft.add({ op: 'download', reason, ...draft.place(key), file: stateOf(r), over })

function onlyHere(draft: Draft, key: string, b: BaseNode | undefined, l: Here): void {
  if (l.kind === 'file') {
    const unchanged = b?.kind === 'file' && (l.sha256 === b.sha256 || isDamaged(l, b))
    if (unchanged) draft.removeHere(key, l, 'deleted_there')
    else upload(draft, key, l, b ? 'kept_here' : 'new_here')
  } else if (b?.kind !== 'dir' || draft.needed.has(key)) {
    draft.add({ op: 'make-remote', reason: b ? 'kept_here' : 'new_here', ...draft.place(key) })
  } else if (draft.occupied.has(key)) keep(draft, key, l.path, draft.local)
  else draft.removeHere(key, l, 'deleted_there')
}

function onlyThere(draft: Draft, key: string, b: BaseNode | undefined, r: There): void {
  if (r.kind === 'file') {
    if (b?.kind === 'file' && r.sha256 === b.sha256) draft.removeThere(key, r, 'deleted_here')
    else download(draft, key, r, b ? 'kept_there' : 'new_there')
  } else if (b?.kind !== 'dir' || draft.needed.has(key)) {
    draft.add({ op: 'make-local', reason: b ? 'kept_there' : 'new_there', ...draft.place(key) })
  } else if (draft.occupied.has(key)) keep(draft, key, r.path, draft.remote)
  else draft.removeThere(key, r, 'deleted_here')
}

/** Leaves a folder that should go but holds what is not synchronised. */
function keep(draft: Draft, key: string, path: string, tree: Tree<unknown>): void {
  // Reported once, for the folder that holds it; those above stay for its sake.
  if (tree.occupied.has(key)) draft.skip(key, path, 'kept')
  else draft.occupied.add(parentOf(key))
}

function onBothSides(draft: Draft, key: string, b: BaseNode | undefined, l: Here, r: There): void {
  draft.needed.add(parentOf(key))
  if (l.kind === 'file' && r.kind === 'file') twoFiles(draft, key, b, l, r)
  else if (l.kind !== r.kind && isDoubtful(draft, key)) {
    draft.shadow(key)
    draft.skip(key, r.path, 'in_the_way')
  } else if (l.kind === 'file') fileAndFolder(draft, key, b, l, r)
  else if (r.kind === 'file') folderAndFile(draft, key, b, l, r)
  else if (b?.kind !== 'dir') draft.add({ op: 'record', ...draft.place(key), node: { kind: 'dir', path: r.path } })
}

function twoFiles(draft: Draft, key: string, b: BaseNode | undefined, l: LocalFile, r: RemoteFile): void {
  const before = b?.kind === 'file' ? b : undefined
  if (l.sha256 === r.sha256) return alike(draft, key, before, l, r)
  if (before && isDamaged(l, before)) {
    draft.skip(key, l.path, 'damaged')
    return download(draft, key, r, 'damaged', l.id)
  }
  if (before && l.sha256 === before.sha256) return download(draft, key, r, 'changed_there', l.id)
  if (before && r.sha256 === before.sha256) return upload(draft, key, l, 'changed_here', r.sha256)
  const renamed = draft.setAside(key, l)
  download(draft, key, r, 'both_changed', renamed ? undefined : l.id)
}

/** Equal contents: at most their times are brought together, without a transfer. */
function alike(draft: Draft, key: string, before: FileState | undefined, l: LocalFile, r: RemoteFile): void {
  const known = before?.sha256 === r.sha256
  if (known && before.mtime === r.mtime) return
  const place = draft.place(key)
  const untouched = known && secondsOf(l.id.mtimeNs) === before.mtime
  if (untouched) draft.add({ op: 'touch', reason: 'retimed_there', ...place, id: l.id, file: stateOf(r) })
  else draft.add({ op: 'record', ...place, node: { path: r.path, ...stateOf(r) } })
}

function fileAndFolder(draft: Draft, key: string, b: BaseNode | undefined, l: LocalFile, r: There): void {
  if (b?.kind === 'file' && l.sha256 === b.sha256) {
    draft.shadow(key)
    return draft.removeHere(key, l, 'replaced_there')
  }
  if (isUnchangedFolder(draft, key, b)) return draft.removeThere(key, r, 'replaced_here')
  draft.setAside(key, l)
  draft.add({ op: 'make-local', reason: 'both_changed', ...draft.place(key) })
}

function folderAndFile(draft: Draft, key: string, b: BaseNode | undefined, l: LocalFolder, r: RemoteFile): void {
  if (isUnchangedFolder(draft, key, b)) return draft.removeHere(key, l, 'replaced_there')
  draft.shadow(key)
  if (b?.kind === 'file' && r.sha256 === b.sha256) return draft.removeThere(key, r, 'replaced_here')
  draft.setAside(key, l)
  download(draft, key, r, 'both_changed')
}

/** Whether a listing has a hole at, above or below a key: then nothing of it makes way for something else. */
const isDoubtful = ({ local, remote }: Draft, key: string): boolean =>
  [local, remote].some((tree) => isUncertain(tree, key) || [...tree.incomplete].some((at) => isBelow(at, key)))

/** Whether everything a folder held at the last agreement is going away, and nothing was added. */
const isUnchangedFolder = (draft: Draft, key: string, b: BaseNode | undefined): boolean =>
  b?.kind === 'dir' && !draft.needed.has(key) && !draft.occupied.has(key)

const stateOf = ({ sha256, size, mtime }: FileState): FileState => ({ kind: 'file', sha256, size, mtime })

/**
 * Whether a file lost its content without being edited: nothing but zeros left, with the time of the last agreement. Journalling
 * file systems leave such files when the power fails before the data is written (nextcloud/desktop#10547).
 */
const isDamaged = (l: LocalFile, b: FileState): boolean =>
  (l.id.size === 0 || l.blank) && b.size > 0 && l.sha256 !== b.sha256 && secondsOf(l.id.mtimeNs) === b.mtime
