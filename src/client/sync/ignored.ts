import { constants, closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { IGNORE_FILE, type IgnoreRules } from './ignore-rules.ts'
import type { Op } from './draft.ts'
import { isMove } from './move-ops.ts'
import { foldersOver, placeOf } from './paths.ts'
import { Refused } from './refusals.ts'
import {
  childOf,
  isBelow,
  nameOf,
  parentOf,
  ROOT,
  type BaseTree,
  type Ignored,
  type LocalNode,
  type RemoteNode,
  type Tree,
} from './tree.ts'

const MAX_BYTES = 1_048_576

/** Takes in the rules that stand in a folder, if it has any. Rules that cannot be read are no reason to send what they protect: throws `Refused`. */
export function readRules(rules: IgnoreRules, root: string, folder: string): void {
  const path = childOf(folder, IGNORE_FILE)
  const refuse = (why: string): Refused =>
    new Refused(
      'rules',
      `${placeOf(root, path)} ${why}, so what it keeps from being synchronised is not known. Nothing was changed.`,
    )
  let file: number
  try {
    file = openSync(placeOf(root, path), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code)
    if (['ENOENT', 'ENOTDIR'].includes(code)) return
    throw refuse(code === 'ELOOP' ? 'is a symbolic link' : `cannot be read (${code})`)
  }
  try {
    const stats = fstatSync(file)
    // A folder of that name is a folder like any other.
    if (stats.isDirectory()) return
    if (!stats.isFile()) throw refuse('is no file')
    if (stats.size > MAX_BYTES) throw refuse('is larger than 1 MB')
    rules.add(folder, readFileSync(file, 'utf8'))
  } finally {
    closeSync(file)
  }
}

/**
 * Takes what one side ignores out of the other too: a rule for folders may ignore a folder on one side and not the file of the same
 * name on the other. Returns the keys that base has to forget, so that nothing is deleted because it came to be ignored.
 */
export function leaveOutIgnored(base: BaseTree, local: Tree<LocalNode>, remote: Tree<RemoteNode>): string[] {
  leaveOutFrom(local, remote.ignored)
  leaveOutFrom(remote, local.ignored)
  if (local.ignored.size + remote.ignored.size === 0) return []
  return [...base.keys()].filter((key) => isIgnored(key, local.ignored) || isIgnored(key, remote.ignored))
}

function leaveOutFrom(tree: Tree<{ path: string }>, ignored: ReadonlyMap<string, Ignored>): void {
  for (const key of ignored.keys()) {
    if (!tree.nodes.delete(key)) continue
    tree.occupied.add(parentOf(key))
    for (const each of tree.nodes.keys()) if (isBelow(each, key)) tree.nodes.delete(each)
  }
}

function isIgnored(key: string, ignored: ReadonlyMap<string, Ignored>): boolean {
  for (let at = key; at !== ROOT; at = parentOf(at)) if (ignored.has(at)) return true
  return false
}

/** What brings a file of rules here, replaces it or takes it away. */
const CHANGES_HERE = new Set<Op['op']>(['download', 'set-aside', 'remove-local'])

/**
 * The part of a plan that changes the rules of this side, if there is one: it is done first, and what is ignored then is not part of
 * the plan after it.
 */
export function rulesFirst(ops: readonly Op[]): Op[] | undefined {
  const rules = ops.filter(({ op, here }) => CHANGES_HERE.has(op) && nameOf(here) === IGNORE_FILE)
  if (rules.length === 0) return undefined
  const over = new Set(rules.flatMap(({ key }) => foldersOver(key)))
  const makesWay = (op: Op): boolean => ['make-local', 'record'].includes(op.op) && over.has(op.key)
  return ops.filter((op) => isMove(op) || rules.includes(op) || makesWay(op))
}
