import type { Op, Place } from './plan-builder.ts'
import { isMove } from './move-operations.ts'
import { Refused } from '../../refused.ts'
import { foldersAbove, IGNORE_FILE } from './reserved-paths.ts'
import {
  nameOf,
  parentOf,
  ROOT,
  type BaseTree,
  type Ignored,
  type LocalNode,
  type RemoteNode,
  type Skipped,
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

const isRules = ({ here }: Place): boolean => nameOf(here) === IGNORE_FILE

const changesRules = (op: Op): boolean =>
  op.op === 'move-local' ? isRules(op) || isRules(op.from) : CHANGES_HERE.has(op.op) && isRules(op)

/**
 * The part of a plan that changes ignore rules: it runs first, and what is then ignored is not in the next plan. `rules`
 * are the operations on ignore files themselves.
 */
export function rulesFirst(ops: readonly Op[]): { ops: Op[]; rules: Op[] } | undefined {
  const rules = ops.filter(changesRules)
  if (rules.length === 0) return undefined
  const over = new Set(rules.flatMap(({ key }) => foldersAbove(key)))
  const makesWay = (op: Op): boolean => ['make-local', 'record'].includes(op.op) && over.has(op.key)
  return { ops: ops.filter((op) => isMove(op) || rules.includes(op) || makesWay(op)), rules }
}

/** Throws `Refused` if new ignore rules could not be stored: going on without them would upload what they protect. */
export function assertRulesStored(rules: readonly Op[], failed: ReadonlyMap<string, Skipped>): void {
  for (const op of rules) {
    const skipped = failed.get(op.key)
    if (!skipped) continue
    const path = isMove(op) && !isRules(op) ? op.from.here : op.here
    const what = `The server's change of ${path} could not be applied here (${skipped.detail ?? skipped.code})`
    const message = `${what}, so it is unknown what is ignored. Nothing is uploaded without these rules: solve the problem, then synchronise again.`
    throw new Refused('rules', message)
  }
}
