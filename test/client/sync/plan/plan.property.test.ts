import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Op } from '../../../../src/client/sync/plan/plan-builder.ts'
import { plan } from '../../../../src/client/sync/plan/plan.ts'
import { baseTree, localTree, remoteTree, type Side } from '../trees.ts'
import { isMove, path, planOf, runs, settle, spelled, spelling, world } from './worlds.ts'

// One random tree, changed on both sides by hands that know nothing of each other, then planned and applied until nothing is
// left to do. Operations must find what they expect; both sides must come out equal; nothing that anybody wrote may be lost.

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
        .filter(([, text]) => text !== null && !Object.values(start.base).includes(text))
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
      fc.pre(!end.ops.some((op) => op.op === 'set-aside' || isMove(op)))
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

test('however each side spells its names, the plan is that for plain names, and what is only spelled otherwise is neither sent nor deleted', () => {
  const kindOf = ({ op, key }: Op) => `${op} ${key}`
  fc.assert(
    fc.property(world, spelling, ({ base, local, remote }, { groups, fold, ...which }) => {
      const planned = (trees: Record<'base' | 'local' | 'remote', number>) =>
        plan({
          base: baseTree(spelled(base, groups, trees.base), fold),
          local: localTree(spelled(local, groups, trees.local), fold),
          remote: remoteTree(spelled(remote, groups, trees.remote), fold),
          fold,
          device: 'Laptop',
          date: '2026-11-21',
        })
      const one = planned({ base: which.base, local: which.base, remote: which.base })
      const mixed = planned(which)
      // A change of case is a move of its own, and what was agreed on is noted with it.
      const matters = ({ ops }: typeof one) => ops.filter(({ op }) => /^(up|down|remove|set)/.test(op))
      expect(matters(mixed).map(kindOf)).toEqual(matters(one).map(kindOf))
      expect(mixed.skipped.map(({ code }) => code)).toEqual(one.skipped.map(({ code }) => code))
      // What is to be done here or there is found under the names that are there.
      const own = { local: spelled(local, groups, which.local), remote: spelled(remote, groups, which.remote) }
      const isMoved = mixed.ops.some(isMove)
      for (const op of isMoved ? [] : mixed.ops) {
        if (op.op === 'remove-local') expect(Object.keys(own.local)).toContain(op.here)
        if (op.op === 'remove-remote') expect(Object.keys(own.remote)).toContain(op.there)
      }
    }),
    runs,
  )
})
