import type { IgnoreRules } from '../local/ignore-rules.ts'
import { isOwn, resemblesOwn } from '../plan/reserved-paths.ts'
import {
  emptyTree,
  keyOf,
  parentOf,
  ROOT,
  sharedKey,
  type BaseNode,
  type BaseTree,
  type RemoteNode,
  type SkipCode,
  type Tree,
} from '../plan/sync-tree.ts'
import { unrepresentable } from '../../files/path-rules.ts'
import type { Listed, Listing } from './manifest.ts'

interface BuildOptions {
  fold: boolean
  /** Decides which of two names that are equal locally is used: the one agreed before. */
  base: BaseTree
  rules?: Pick<IgnoreRules, 'find'>
  platform?: NodeJS.Platform
}

/** Makes a tree of a listing, leaving out what cannot be on this machine. */
export function buildRemote(
  { nodes, rejected }: Pick<Listing, 'nodes' | 'rejected'>,
  { fold, base, rules, platform }: BuildOptions,
): Tree<RemoteNode> {
  const tree = emptyTree<RemoteNode>()
  tree.skipped.push(...rejected)
  if (rejected.length > 0) tree.incomplete.add(ROOT)
  const leaveOut = (path: string, code: SkipCode): void => {
    tree.occupied.add(keyOf(parentOf(path), fold))
    tree.skipped.push({ path, code })
  }
  for (const node of inOrder(nodes, { fold, base })) {
    const { path } = node
    if (isOwn(path)) continue
    const over = tree.nodes.get(keyOf(parentOf(path), fold))
    // Below something left out, which was reported itself.
    if (parentOf(path) !== ROOT && (over?.kind !== 'dir' || over.path !== parentOf(path))) continue
    const key = sharedKey(base, keyOf(path, fold))
    const rule = rules?.find(path, node.kind === 'dir')
    if (rule) {
      tree.ignored.set(key, { ...rule, path })
      tree.occupied.add(keyOf(parentOf(path), fold))
      continue
    }
    const problem = resemblesOwn(path) ? 'reserved' : unrepresentable(path, platform)
    if (tree.nodes.has(key)) leaveOut(path, 'collision')
    else if (problem) {
      tree.nodes.set(key, { kind: 'other', path, code: problem })
      tree.incomplete.add(key)
      leaveOut(path, problem)
    } else tree.nodes.set(key, node)
  }
  return tree
}

/** Folders precede their contents; then agreed entries precede others. Entries equal to base reuse its node. */
function inOrder(nodes: Iterable<Listed>, { fold, base }: Pick<BuildOptions, 'fold' | 'base'>): Listed[] {
  const levels: Record<'agreed' | 'other', Listed[]>[] = []
  for (const node of nodes) {
    const known = base.get(keyOf(node.path, fold))
    const level = (levels[depthOf(node.path)] ??= { agreed: [], other: [] })
    if (known?.path === node.path) level.agreed.push(isSame(known, node) ? known : node)
    else level.other.push(node)
  }
  const byPath = (a: Listed, b: Listed): number => (a.path < b.path ? -1 : 1)
  return levels.flatMap(({ agreed, other }) => [...agreed.sort(byPath), ...other.sort(byPath)])
}

function depthOf(path: string): number {
  let depth = 0
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) depth += 1
  return depth
}

const isSame = (a: BaseNode, b: Listed): boolean =>
  a.kind === 'file' && b.kind === 'file'
    ? a.sha256 === b.sha256 && a.size === b.size && a.mtime === b.mtime
    : a.kind === b.kind
