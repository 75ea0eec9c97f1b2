import fc from 'fast-check'
import type { Op } from '../../../../src/client/sync/plan/plan-builder.ts'
import { plan } from '../../../../src/client/sync/plan/plan.ts'
import { parentOf, ROOT, isWithin } from '../../../../src/client/sync/plan/sync-tree.ts'
import { casePairs, spellings } from '../../../support/nasty-names.ts'
import { baseTree, localTree, remoteTree, sha256Of, withFolders, type Side } from '../trees.ts'

// Worlds of two sides and what they agreed on, changed by hands that know nothing of each other, and brought together by plans.

/** Three names that nothing takes for one another, tame or nasty; a world has only three, so that its hands meet. */
const names = ['a', 'b', 'c']
export const path = fc
  .array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 })
  .map((parts) => `/${parts.join('/')}`)

/** How each side spells the names of a world. */
export interface Spelling {
  /** For each name its spellings, which are one name. */
  groups: readonly (readonly string[])[]
  base: number
  local: number
  remote: number
  fold: boolean
}

export const spelling: fc.Arbitrary<Spelling> = fc.oneof(
  fc.record({
    groups: fc.shuffledSubarray([...spellings], { minLength: 3, maxLength: 3 }),
    base: fc.nat(5),
    local: fc.nat(5),
    remote: fc.nat(5),
    fold: fc.boolean(),
  }),
  fc.record({
    groups: fc.shuffledSubarray([...spellings, ...casePairs], { minLength: 3, maxLength: 3 }),
    base: fc.nat(5),
    local: fc.nat(5),
    remote: fc.nat(5),
    fold: fc.constant(true),
  }),
)

/** A side with the names of a world in the spellings of that side; one and the same name in one way throughout. */
export const spelled = (side: Side, groups: Spelling['groups'], which: number): Side =>
  Object.fromEntries(
    Object.entries(side).map(([at, content]) => [
      at.replace(/[abc]/g, (name) => {
        const group = groups[names.indexOf(name)]!
        return group[which % group.length]!
      }),
      content,
    ]),
  )
const content = fc.constantFrom('one', 'two', 'three', 'four', 'five')

export type Change =
  | { kind: 'write'; path: string; content: string }
  | { kind: 'remove'; path: string }
  | { kind: 'folder'; path: string }
  | { kind: 'rename'; path: string; to: string }
  | { kind: 'swap'; path: string; to: string }

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), path, content }),
  fc.record({ kind: fc.constant('remove' as const), path }),
  fc.record({ kind: fc.constant('folder' as const), path }),
  fc.record({ kind: fc.constant('rename' as const), path, to: path }),
  fc.record({ kind: fc.constant('swap' as const), path, to: path }),
)

const below = (side: Side, folder: string): string[] => Object.keys(side).filter((at) => at.startsWith(`${folder}/`))

function removeTree(side: Side, at: string): void {
  for (const each of below(side, at)) delete side[each]
  delete side[at]
}

/** Whether something can be at a path: nothing above it is a file. */
function hasRoom(side: Side, at: string): boolean {
  for (let up = parentOf(at); up !== ROOT; up = parentOf(up)) if (typeof side[up] === 'string') return false
  return true
}

function swap(side: Side, one: string, other: string): void {
  if (!(one in side) || !(other in side) || isWithin(one, other) || isWithin(other, one)) return
  moveAll(
    side,
    [
      { from: one, to: other },
      { from: other, to: one },
    ],
    true,
  )
}

/** Does what a person would do, where it can be done; `mark` keeps what two people write apart. */
export function perturb(start: Side, changes: Change[], mark: string): Side {
  const side = { ...start }
  for (const each of changes) {
    if (each.kind === 'remove') removeTree(side, each.path)
    else if (each.kind === 'swap') swap(side, each.path, each.to)
    else if (each.kind === 'rename') {
      const moved = [each.path, ...below(side, each.path)].filter((at) => at in side)
      if (moved.length === 0 || each.to in side || isWithin(each.to, each.path) || !hasRoom(side, each.to)) continue
      const contents = moved.map((at): [string, string | null] => [each.to + at.slice(each.path.length), side[at]!])
      removeTree(side, each.path)
      Object.assign(side, withFolders(Object.fromEntries(contents)))
    } else if (hasRoom(side, each.path)) {
      removeTree(side, each.path)
      Object.assign(side, withFolders({ [each.path]: each.kind === 'folder' ? null : `${each.content} ${mark}` }))
    }
  }
  // Folders made on the way may have been removed by a later change of a parent.
  return withFolders(side)
}

export interface World {
  base: Side
  local: Side
  remote: Side
  bySha: Map<string, string>
}

const order: Op['op'][] = [
  'record',
  'forget',
  'touch',
  'set-aside',
  'make-local',
  'make-remote',
  'download',
  'upload',
  'remove-local',
  'remove-remote',
]

const sortOps = (ops: Op[]): Op[] =>
  ops.toSorted((x, y) => {
    const phase = order.indexOf(x.op) - order.indexOf(y.op)
    if (phase !== 0) return phase
    const down = x.key < y.key ? -1 : 1
    return x.op.startsWith('remove') ? -down : down
  })

type MoveOp = Extract<Op, { op: 'move-base' | 'move-local' | 'move-remote' }>

export const isMove = (op: Op): op is MoveOp => op.op.startsWith('move-')

/** Moves what lies at and below paths of a side, all at once. */
function moveAll(side: Side, moves: { from: string; to: string }[], mustBeFree: boolean): void {
  const taken = moves.map(({ from, to }) => {
    const paths = [from, ...below(side, from)].filter((at) => at in side)
    return paths.map((at): [string, string | null] => [to + at.slice(from.length), side[at]!])
  })
  for (const { from } of moves) removeTree(side, from)
  for (const { to } of moves) mustBe(!mustBeFree || (!(to in side) && hasRoom(side, to)), `move to ${to}`)
  for (const entries of taken) Object.assign(side, withFolders(Object.fromEntries(entries)))
}

function applyMoves(world: World, ops: MoveOp[]): void {
  for (const [at, op] of ops.entries()) {
    const ring = 'cycle' in op ? op.cycle : undefined
    const together = ring === undefined ? [op] : ops.filter((each) => 'cycle' in each && each.cycle === ring)
    if (together[0] !== op) continue
    if (ring !== undefined)
      mustBe(
        ops.slice(at, at + together.length).every((each) => together.includes(each)),
        'a ring in one piece',
      )
    const moves = together.map((each) => ({ from: each.from.here, to: each.here }))
    if (op.op === 'move-remote') {
      for (const each of together as Extract<MoveOp, { op: 'move-remote' }>[]) {
        mustBe(each.from.there in world.remote, `move ${each.from.there} there`)
        if (each.sha256) mustBe(sha256Of(world.remote[each.from.there]!) === each.sha256, `move of ${each.from.there}`)
        mustBe(each.here in world.local, `only what was moved here: ${each.here}`)
      }
      moveAll(world.remote, moves, true)
    } else if (op.op === 'move-local') {
      for (const { from } of moves) mustBe(from in world.local, `move ${from} here`)
      moveAll(world.local, moves, true)
      if (op.undo) continue
    }
    moveAll(world.base, moves, false)
    if ('kept' in op) for (const each of op.kept) delete world.base[each]
    if (op.op !== 'move-base')
      for (const { to } of moves) for (let up = parentOf(to); up !== ROOT; up = parentOf(up)) world.base[up] ??= null
  }
}

function mustBe(condition: boolean, what: string): void {
  if (!condition) throw new Error(what)
}

function applyLocally(world: World, op: Op): void {
  const { base, local, bySha } = world
  if (op.op === 'set-aside') {
    mustBe(op.here in local && !(op.to in local) && !(op.to in world.remote), `set aside ${op.here}`)
    for (const at of [op.here, ...below(local, op.here)]) {
      local[op.to + at.slice(op.here.length)] = local[at]!
      delete base[at]
    }
    removeTree(local, op.here)
  } else if (op.op === 'make-local') {
    mustBe(!(op.here in local) && hasRoom(local, op.here), `make ${op.here} here`)
    local[op.here] = null
    base[op.here] = null
  } else if (op.op === 'download') {
    const there = op.over ? typeof local[op.here] === 'string' : !(op.here in local)
    mustBe(there && hasRoom(local, op.here), `download ${op.here}`)
    mustBe(sha256Of(world.remote[op.there]!) === op.file.sha256, `download of the right content to ${op.here}`)
    Object.assign(local, withFolders({ [op.here]: bySha.get(op.file.sha256)! }))
    base[op.here] = local[op.here]!
  } else if (op.op === 'remove-local') {
    mustBe(op.here in local && below(local, op.here).length === 0, `remove ${op.here} here`)
    mustBe(local[op.here] === null || local[op.here] === base[op.here], `remove only what was agreed on: ${op.here}`)
    delete local[op.here]
    delete base[op.here]
  }
}

function applyRemotely(world: World, op: Op): void {
  const { base, remote, bySha } = world
  if (op.op === 'make-remote') {
    mustBe(hasRoom(remote, op.there) && typeof remote[op.there] !== 'string', `make ${op.there} there`)
    Object.assign(remote, withFolders({ [op.there]: null }))
    base[op.there] = null
  } else if (op.op === 'upload') {
    mustBe(hasRoom(remote, op.there), `upload ${op.there}`)
    mustBe(op.over ? sha256Of(remote[op.there]!) === op.over : !(op.there in remote), `upload ${op.there} in its place`)
    const content = bySha.get(op.local.sha256!)!
    Object.assign(remote, withFolders({ [op.there]: content }))
    Object.assign(base, withFolders({ [op.there]: content }))
  } else if (op.op === 'remove-remote') {
    mustBe(op.there in remote && below(remote, op.there).length === 0, `remove ${op.there} there`)
    mustBe(
      remote[op.there] === null || remote[op.there] === base[op.there],
      `remove only what was agreed on: ${op.there}`,
    )
    delete remote[op.there]
    delete base[op.there]
  }
}

function applyPlan(world: World, ops: Op[]): void {
  applyMoves(world, ops.filter(isMove))
  for (const op of sortOps(ops.filter((each) => !isMove(each)))) {
    if (op.op === 'record') world.base[op.here] = world.local[op.here]!
    else if (op.op === 'forget') delete world.base[op.here]
    applyLocally(world, op)
    applyRemotely(world, op)
  }
}

export const planOf = ({ base, local, remote }: World) =>
  plan({
    base: baseTree(base),
    local: localTree(local),
    remote: remoteTree(remote),
    fold: false,
    device: 'Laptop',
    date: '2026-11-21',
  })

export const world = fc
  .record({
    start: fc.array(change, { maxLength: 8 }),
    here: fc.array(change, { maxLength: 6 }),
    there: fc.array(change, { maxLength: 6 }),
    /** Whether base was lost. */
    amnesia: fc.boolean(),
    /** Whether both hands write the same words. */
    twins: fc.boolean(),
  })
  .map(({ start, here, there, amnesia, twins }) => {
    const agreed = perturb({}, start, 'at first')
    const local = perturb(agreed, here, twins ? 'later' : 'here')
    const remote = perturb(agreed, there, twins ? 'later' : 'there')
    return { agreed, base: amnesia ? {} : agreed, local, remote }
  })

export const runs = {
  numRuns: Number(process.env['PLAN_RUNS'] ?? 1_500),
  seed: Number(process.env['PLAN_SEED'] ?? 20_261_121),
}

export function settle(start: { base: Side; local: Side; remote: Side }): World & { ops: Op[] } {
  const contents = [...Object.values(start.base), ...Object.values(start.local), ...Object.values(start.remote)]
  const texts = contents.filter((text) => text !== null)
  const state: World = {
    base: { ...start.base },
    local: { ...start.local },
    remote: { ...start.remote },
    bySha: new Map(texts.map((text) => [sha256Of(text), text])),
  }
  const done: Op[] = []
  for (let round = 0; round < 6; round += 1) {
    const { ops, skipped } = planOf(state)
    mustBe(skipped.length === 0, 'nothing is left alone')
    if (ops.length === 0) return { ...state, ops: done }
    done.push(...ops)
    applyPlan(state, ops)
  }
  throw new Error('It never comes to rest.')
}
