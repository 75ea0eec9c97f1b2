import type { Op } from './plan-builder.ts'
import { isMove } from './move-operations.ts'
import { foldersAbove, IGNORE_FILE } from './reserved-paths.ts'
import {
  nameOf,
  parentOf,
  ROOT,
  type BaseTree,
  type Ignored,
  type LocalNode,
  type RemoteNode,
  type Tree,
} from './sync-tree.ts'

/**
 * Removes what one side ignores from the other tree too: a rule for folders may ignore a folder on one side and not the
 * file of the same name on the other. Returns the keys to remove from base, so that ignoring deletes nothing.
 */
export function removeIgnored(base: BaseTree, local: Tree<LocalNode>, remote: Tree<RemoteNode>): string[] {
  removeFrom(local, remote.ignored)
  removeFrom(remote, local.ignored)
  if (local.ignored.size + remote.ignored.size === 0) return []
  return [...base.keys()].filter((key) => isIgnored(key, local.ignored) || isIgnored(key, remote.ignored))
}

function removeFrom(tree: Tree<{ path: string }>, ignored: ReadonlyMap<string, Ignored>): void {
  if (ignored.size === 0) return
  for (const key of ignored.keys()) if (tree.nodes.has(key)) tree.occupied.add(parentOf(key))
  for (const key of tree.nodes.keys()) if (isIgnored(key, ignored)) tree.nodes.delete(key)
}

function isIgnored(key: string, ignored: ReadonlyMap<string, Ignored>): boolean {
  for (let at = key; at !== ROOT; at = parentOf(at)) if (ignored.has(at)) return true
  return false
}

/** Operations that change, replace or remove a local ignore file. */
const CHANGES_HERE = new Set<Op['op']>(['download', 'set-aside', 'remove-local'])

/** The part of a plan that changes ignore rules: it runs first, and what is then ignored is not in the next plan. */
export function rulesFirst(ops: readonly Op[]): Op[] | undefined {
  const rules = ops.filter(({ op, here }) => CHANGES_HERE.has(op) && nameOf(here) === IGNORE_FILE)
  if (rules.length === 0) return undefined
  const over = new Set(rules.flatMap(({ key }) => foldersAbove(key)))
  const makesWay = (op: Op): boolean => ['make-local', 'record'].includes(op.op) && over.has(op.key)
  return ops.filter((op) => isMove(op) || rules.includes(op) || makesWay(op))
}
