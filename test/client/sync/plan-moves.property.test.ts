import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withFolders, type Side } from './trees.ts'
import { perturb, path, runs, settle, type Change } from './worlds.ts'

// Trees in which every file has a content of its own, and hands that only rename.

const files = fc.array(path, { minLength: 2, maxLength: 8 }).map((paths) => {
  const side: Side = {}
  for (const at of paths) {
    const others = Object.keys(side)
    if (!others.some((other) => at.startsWith(`${other}/`) || other.startsWith(`${at}/`))) side[at] = `content of ${at}`
  }
  return withFolders(side)
})

const renames: fc.Arbitrary<Change[]> = fc.array(
  fc.record({ kind: fc.constantFrom('rename' as const, 'swap' as const), path, to: path }),
  { minLength: 1, maxLength: 5 },
)

const isFile = (side: Side, at: string): boolean => typeof side[at] === 'string'

/** Whether no path became a folder that was a file, or the other way round: such things are sent, not moved. */
const keepsKinds = (one: Side, other: Side): boolean =>
  Object.keys(one).every((at) => !(at in other) || isFile(one, at) === isFile(other, at))

test('what one side only renamed is never transferred, whatever took whose place', () => {
  fc.assert(
    fc.property(files, renames, fc.boolean(), (base, changes, isHere) => {
      const changed = perturb(base, changes, '')
      fc.pre(keepsKinds(base, changed))
      const end = settle({ base, local: isHere ? changed : base, remote: isHere ? base : changed })
      const moved = [
        'move-local',
        'move-remote',
        'make-local',
        'make-remote',
        'remove-local',
        'remove-remote',
        'forget',
        'record',
      ]
      const isLost = (op: (typeof end.ops)[number]) => op.op.startsWith('remove') && 'kind' in op && op.kind === 'file'
      expect(end.ops.filter((op) => !moved.includes(op.op) || isLost(op))).toEqual([])
      expect(end.local).toEqual(changed)
      expect(end.remote).toEqual(changed)
    }),
    runs,
  )
})

test('where both sides only renamed, both end with the same names, and with every content there was', () => {
  fc.assert(
    fc.property(files, renames, renames, (base, here, there) => {
      const end = settle({ base, local: perturb(base, here, ''), remote: perturb(base, there, '') })
      expect(end.local).toEqual(end.remote)
      const contents = (side: Side) => new Set(Object.values(side).filter((text) => text !== null))
      expect(contents(end.local)).toEqual(contents(base))
    }),
    runs,
  )
})
