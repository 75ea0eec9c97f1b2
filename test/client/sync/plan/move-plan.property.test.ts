import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withFolders, type Side } from '../trees.ts'
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

/** What is neither a move nor a matter of folders, once both sides agree: a transfer, or a file that went away. */
function transfers({ ops }: ReturnType<typeof settle>): string[] {
  const isMove = /^(move|make)-|^(forget|record)$/
  const isFolder = (op: (typeof ops)[number]) => op.op.startsWith('remove') && 'kind' in op && op.kind === 'dir'
  return ops.filter((op) => !isMove.test(op.op) && !isFolder(op)).map(({ op, key }) => `${op} ${key}`)
}

test('what one side only renamed is never transferred, whatever took whose place', () => {
  fc.assert(
    fc.property(files, renames, fc.boolean(), (base, changes, isHere) => {
      const changed = perturb(base, changes, '')
      fc.pre(keepsKinds(base, changed))
      const end = settle({ base, local: isHere ? changed : base, remote: isHere ? base : changed })
      expect(transfers(end)).toEqual([])
      expect(end.local).toEqual(changed)
      expect(end.remote).toEqual(changed)
    }),
    runs,
  )
})

const knots: { name: string; base: Side; changes: Change[] }[] = [
  {
    name: 'two folders that seem to have gone into each other',
    base: { '/c/a': 'upper', '/c/b/a': 'lower', '/a': 'other' },
    changes: [
      { kind: 'swap', path: '/c/a', to: '/c/b/a' },
      { kind: 'rename', path: '/c', to: '/b/a' },
    ],
  },
  {
    name: 'a file that would come to stand where the folder is that it went into',
    base: { '/c/a': 'one', '/c/b': 'two', '/a': 'other' },
    changes: [
      { kind: 'rename', path: '/c/a', to: '/b/a/a' },
      { kind: 'rename', path: '/c', to: '/b/a/b' },
    ],
  },
  {
    name: 'a file that would come to stand in a folder whose place it took',
    base: { '/c/a': 'one', '/c/b/b': 'two', '/a': 'other' },
    changes: [
      { kind: 'rename', path: '/c/a', to: '/d/a' },
      { kind: 'rename', path: '/c/b/b', to: '/d/b' },
      { kind: 'remove', path: '/c' },
    ],
  },
]

test.each(knots.flatMap((each) => [true, false].map((isHere) => ({ ...each, isHere }))))(
  'what was renamed is moved file by file where folders are in a knot: $name, here: $isHere',
  ({ base, changes, isHere }) => {
    const before = withFolders(base)
    const after = perturb(before, changes, '')
    const end = settle({ base: before, local: isHere ? after : before, remote: isHere ? before : after })
    expect(transfers(end)).toEqual([])
    expect(end.local).toEqual(after)
    expect(end.remote).toEqual(after)
  },
)

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
