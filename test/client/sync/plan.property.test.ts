import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Op } from '../../../src/client/sync/draft.ts'
import { plan } from '../../../src/client/sync/plan.ts'
import { parentOf, ROOT } from '../../../src/client/sync/tree.ts'
import { baseTree, localTree, remoteTree, sha256Of, withFolders, type Side } from './trees.ts'

// One random tree, changed on both sides by hands that know nothing of each other, then planned and applied until nothing is
// left to do. Operations must find what they expect; both sides must come out equal; nothing that anybody wrote may be lost.

const names = ['a', 'b', 'c']
const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join('/')}`)
const content = fc.constantFrom('one', 'two', 'three', 'four', 'five')

type Change =
  | { kind: 'write'; path: string; content: string }
  | { kind: 'remove'; path: string }
  | { kind: 'folder'; path: string }
  | { kind: 'rename'; path: string; to: string }

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), path, content }),
  fc.record({ kind: fc.constant('remove' as const), path }),
  fc.record({ kind: fc.constant('folder' as const), path }),
  fc.record({ kind: fc.constant('rename' as const), path, to: path }),
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

/** Does what a person would do, where it can be done; `mark` keeps what two people write apart. */
function perturb(start: Side, changes: Change[], mark: string): Side {
  const side = { ...start }
  for (const each of changes) {
    if (each.kind === 'remove') removeTree(side, each.path)
    else if (each.kind === 'rename') {
      const moved = [each.path, ...below(side, each.path)].filter((at) => at in side)
      if (moved.length === 0 || each.to in side || `${each.to}/`.startsWith(`${each.path}/`)) continue
      const contents = moved.map((at): [string, string | null] => [each.to + at.slice(each.path.length), side[at]!])
      removeTree(side, each.path)
      if (hasRoom(side, each.to)) Object.assign(side, withFolders(Object.fromEntries(contents)))
    } else if (hasRoom(side, each.path)) {
      removeTree(side, each.path)
      Object.assign(side, withFolders({ [each.path]: each.kind === 'folder' ? null : `${each.content} ${mark}` }))
    }
  }
  // Folders made on the way may have been removed by a later change of a parent.
  return withFolders(side)
}

interface World {
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
  for (const op of sortOps(ops)) {
    if (op.op === 'record') world.base[op.here] = world.local[op.here]!
    else if (op.op === 'forget') delete world.base[op.here]
    applyLocally(world, op)
    applyRemotely(world, op)
  }
}

const planOf = ({ base, local, remote }: World) =>
  plan({
    base: baseTree(base),
    local: localTree(local),
    remote: remoteTree(remote),
    fold: false,
    device: 'Laptop',
    date: '2026-11-21',
  })

const world = fc
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

const runs = { numRuns: Number(process.env['PLAN_RUNS'] ?? 1_500) }

function settle(start: { base: Side; local: Side; remote: Side }): World & { ops: Op[] } {
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
    expect(skipped).toEqual([])
    if (ops.length === 0) return { ...state, ops: done }
    done.push(...ops)
    applyPlan(state, ops)
  }
  throw new Error('It never comes to rest.')
}

test('both sides come to rest equal, and base says so', () => {
  fc.assert(
    fc.property(world, (start) => {
      const end = settle(start)
      expect(end.local).toEqual(end.remote)
      expect(end.base).toEqual(end.local)
    }),
    runs,
  )
})

test('whatever anybody wrote is still there, under its path or as a conflict copy', () => {
  fc.assert(
    fc.property(world, (start) => {
      const end = settle(start)
      const kept = new Set(Object.values(end.local))
      const written = [start.local, start.remote]
        .flatMap((side) => Object.entries(side))
        .filter(([at, text]) => text !== null && text !== start.base[at])
      expect(written.filter(([, text]) => !kept.has(text))).toEqual([])
    }),
    runs,
  )
})

test('where only one side changed, its word is law, and nothing else happens', () => {
  fc.assert(
    fc.property(world, ({ base, local, remote }) => {
      expect(settle({ base, local, remote: base }).remote).toEqual(local)
      expect(settle({ base, local: base, remote }).local).toEqual(remote)
    }),
    runs,
  )
})

test('a path that only one side touched ends as that side left it, unless a conflict sits above it', () => {
  fc.assert(
    fc.property(world, ({ agreed, local, remote }) => {
      const end = settle({ base: agreed, local, remote })
      fc.pre(!end.ops.some(({ op }) => op === 'set-aside'))
      const paths = Object.keys({ ...local, ...remote }).filter((at) => agreed[at] !== null)
      const byOne = paths.filter((at) => local[at] === agreed[at] || remote[at] === agreed[at])
      const wanted = byOne.map((at): [string, unknown] => [at, local[at] === agreed[at] ? remote[at] : local[at]])
      const written = wanted.filter(([, text]) => typeof text === 'string')
      expect(written.map(([at]) => [at, end.local[at]])).toEqual(written)
    }),
    runs,
  )
})

test('without base nothing is ever deleted', () => {
  fc.assert(
    fc.property(world, ({ local, remote }) => {
      const { ops } = settle({ base: {}, local, remote })
      expect(ops.filter(({ op }) => op.startsWith('remove'))).toEqual([])
    }),
    runs,
  )
})

test('planning twice from the same state gives the same plan, in whatever order the trees were filled', () => {
  fc.assert(
    fc.property(world, ({ base, local, remote }) => {
      const reversed = (side: Side): Side => Object.fromEntries(Object.entries(side).reverse())
      const state = { base, local, remote, bySha: new Map() }
      const other = { base: reversed(base), local: reversed(local), remote: reversed(remote), bySha: new Map() }
      expect(planOf(other)).toEqual(planOf(state))
    }),
    runs,
  )
})

test('below a folder that could not be listed nothing is deleted, forgotten or moved away, and no folder above it', () => {
  fc.assert(
    fc.property(world, path, fc.constantFrom('local', 'remote'), ({ base, local, remote }, hole, side) => {
      const trees = { local: localTree(local), remote: remoteTree(remote) }
      const blind = side === 'local' ? trees.local : trees.remote
      fc.pre(blind.nodes.get(hole)?.kind === 'dir')
      for (const key of blind.nodes.keys()) if (key.startsWith(`${hole}/`)) blind.nodes.delete(key)
      blind.incomplete.add(hole)
      const { ops } = plan({ base: baseTree(base), ...trees, fold: false, device: 'd', date: '2026-11-21' })
      const isFolder = (op: Op) => 'kind' in op && op.kind === 'dir'
      const touches = (op: Op) => `${op.key}/`.startsWith(`${hole}/`) || (isFolder(op) && hole.startsWith(`${op.key}/`))
      const losing = ops.filter(({ op }) => op.startsWith('remove') || (op === 'set-aside' && side === 'local'))
      expect(losing.filter(touches)).toEqual([])
      expect(ops.filter((op) => op.op === 'forget' && op.key.startsWith(`${hole}/`))).toEqual([])
    }),
    runs,
  )
})
