import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { makePlanBuilder } from '../../../src/client/sync/plan/plan-builder.ts'
import { pathProblem, resemblesOwn } from '../../../src/client/sync/plan/reserved-paths.ts'
import { plan } from '../../../src/client/sync/plan/plan.ts'
import { childOf, isBelow, isUncertain, keyOf, secondsOf } from '../../../src/client/sync/plan/sync-tree.ts'
import { casePairs, spellings } from '../../support/nasty-names.ts'
import { baseTree, localTree, remoteTree, sha256Of, type Side } from './trees.ts'
import { toLocalPath } from '../../../src/client/files/local-path.ts'
import { isSafePath, nameProblem, unrepresentable } from '../../../src/client/files/path-rules.ts'
import { conflictName, deviceLabel, isCopyName } from '../../../src/client/sync/plan/conflict-names.ts'
import { buildRemote } from '../../../src/client/sync/remote/remote-tree.ts'

const copy = { device: 'Laptop', date: '2026-11-21', sha256: 'abcdef0123456789', attempt: 1 }

describe('the name of a conflict copy', () => {
  test('keeps the extension, and says whose, when and what', () => {
    expect(conflictName({ ...copy, name: 'plan.txt' })).toBe('plan (conflict Laptop 2026-11-21 abcdef01).txt')
    expect(conflictName({ ...copy, name: 'archive.tar.gz' })).toBe(
      'archive.tar (conflict Laptop 2026-11-21 abcdef01).gz',
    )
    expect(conflictName({ ...copy, name: 'Makefile' })).toBe('Makefile (conflict Laptop 2026-11-21 abcdef01)')
    expect(conflictName({ ...copy, name: '.profile' })).toBe('.profile (conflict Laptop 2026-11-21 abcdef01)')
    expect(conflictName({ ...copy, name: 'plan.txt', attempt: 2 })).toBe(
      'plan (conflict Laptop 2026-11-21 abcdef01 2).txt',
    )
    expect(conflictName({ ...copy, name: 'v1.2', sha256: undefined })).toBe('v1.2 (conflict Laptop 2026-11-21)')
  })

  test.each([
    'x'.repeat(255),
    `${'\u00e4'.repeat(120)}.txt`,
    `${'\u{1f600}'.repeat(60)}.jpeg`,
    `a.${'x'.repeat(250)}`,
    `.${'\u{1f600}'.repeat(63)}`,
  ])('fits where the name was as long as names get: %s', (name) => {
    const long = conflictName({ ...copy, name, device: '\u{1f600}'.repeat(40) })
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(255)
    expect(long.isWellFormed()).toBe(true)
    expect(nameProblem(long)).toBeUndefined()
  })

  test('is recognised, so that doing it again makes no second copy', () => {
    expect(isCopyName('/d/plan (conflict Laptop 2026-11-21 abcdef01).txt')).toBe(true)
    expect(isCopyName('/d/plan (conflict Laptop 2026-11-21 abcdef01 2).txt')).toBe(true)
    expect(isCopyName('/d (conflict Laptop 2026-11-21 abcdef01)/plan.txt')).toBe(false)
    expect(isCopyName('/d/plan.txt')).toBe(false)
  })

  test('is another one when the name is taken, and none when its content is kept already', () => {
    const input = (local: Side) => ({
      base: baseTree({}),
      local: localTree({ '/a.txt': 'mine', ...local }),
      remote: remoteTree({ '/a.txt': 'theirs' }),
      fold: false,
      device: 'Laptop',
      date: '2026-11-21',
    })
    const name = (count = '') => `/a (conflict Laptop 2026-11-21 ${sha256Of('mine').slice(0, 8)}${count}).txt`
    const asides = (local: Side) => plan(input(local)).ops.flatMap((op) => (op.op === 'set-aside' ? [op.to] : []))
    expect(asides({})).toEqual([name()])
    expect(asides({ [name()]: 'something else' })).toEqual([name(' 2')])
    expect(asides({ [name()]: 'mine' })).toEqual([])
    expect(plan(input({ [name()]: 'mine' })).ops).toContainEqual(
      expect.objectContaining({ op: 'download', here: '/a.txt', over: expect.anything() as unknown }),
    )
    expect(makePlanBuilder(input({})).result()).toEqual({ ops: [], skipped: [] })
  })

  test('holds of the device only what every system takes in a name', () => {
    expect(deviceLabel("Ada's laptop/../x\n:?")).toBe('Ada-s laptop-..-x')
    expect(deviceLabel('...')).toBe('device')
    expect(deviceLabel('')).toBe('device')
    expect(Array.from(deviceLabel('\u00e4'.repeat(100)))).toHaveLength(40)
  })
})

describe('paths', () => {
  test.each(['/a', '/a b/c', '/\u00e4/\u{1f600}', '/...', '/a:b', `/${'x'.repeat(255)}`, '/-rf', '/~'])(
    '%j is safe',
    (path) => {
      expect(isSafePath(path)).toBe(true)
    },
  )

  test.each([
    '',
    '/',
    'a',
    '//',
    '/a/',
    '/a//b',
    '/.',
    '/..',
    '/../a',
    '/a/..',
    '/a/./b',
    '/a\\b',
    '/a\0',
    '/a\nb',
    '/a\u007f',
    '/\ud800',

    `/${'x'.repeat(256)}`,
    `/${'\u00e4'.repeat(128)}`,
    '/a'.repeat(65),
    `/${'x'.repeat(200)}`.repeat(21),
    null,
    undefined,
    7,
    {},
  ])('%j is not', (path) => {
    expect(isSafePath(path)).toBe(false)
  })

  test('no spelling of our own folder passes for an ordinary one', () => {
    for (const path of ['/.SVC', '/.svc.', '/.svc ', '/.s\u200cvc/root.json', '/\uff0esvc', '/SVC~1/x'])
      expect(resemblesOwn(path)).toBe(true)
    for (const path of ['/svc', '/.svcx', '/a/.svc']) expect(resemblesOwn(path)).toBe(false)
  })

  test('what the server would refuse is known beforehand', () => {
    expect(pathProblem('/TeamChat/x'.slice(0, 9))).toBe('reserved')
    expect(pathProblem('/a/teamchat')).toBeUndefined()
    expect(pathProblem('/a'.repeat(64))).toBeUndefined()
    expect(pathProblem('/a'.repeat(65))).toBe('too_deep')
    expect(pathProblem(`/${'x'.repeat(200)}`.repeat(21))).toBe('too_deep')
  })

  test('names that Windows cannot have are known there, and fine elsewhere', () => {
    for (const path of ['/con', '/d/NUL.txt', '/com1.log', '/lpt\u00b2', '/a:b', '/a.', '/a ', '/a?', '/d*/x']) {
      expect(unrepresentable(path, 'win32')).toBe('not_here')
      expect(unrepresentable(path, 'linux')).toBeUndefined()
    }
    for (const path of ['/console', '/a.b', '/com', '/com10']) expect(unrepresentable(path, 'win32')).toBeUndefined()
  })

  test('keys, places and times', () => {
    expect(keyOf('/Caf\u0065\u0301', false)).toBe('/Caf\u00e9')
    expect(keyOf('/Caf\u0065\u0301', true)).toBe(keyOf('/CAF\u00c9', true))
    expect(toLocalPath('/r', '/')).toBe('/r')
    expect(toLocalPath('/r', '/a/b')).toBe('/r/a/b')
    expect([
      isBelow('/a/b', '/a'),
      isBelow('/ab', '/a'),
      isBelow('/a', '/a'),
      isBelow('/a', '/'),
      isBelow('/', '/'),
    ]).toEqual([true, false, false, true, false])
    expect([1_999_999_999n, -1n, -1_000_000_000n, 0n].map(secondsOf)).toEqual([1, -1, -1, 0])
  })
})

describe('nasty names', () => {
  const all = [...spellings, ...casePairs].flat()
  const anyName = fc.oneof(fc.constantFrom(...all), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }))
  const isUsable = (name: string): boolean => nameProblem(name) === undefined

  test('the key of a key is that key, and paths have the keys of their names', () => {
    fc.assert(
      fc.property(anyName.filter(isUsable), anyName.filter(isUsable), fc.boolean(), (folder, name, fold) => {
        const key = keyOf(`/${folder}/${name}`, fold)
        expect(keyOf(key, fold)).toBe(key)
        expect(childOf(keyOf(`/${folder}`, fold), keyOf(name, fold))).toBe(key)
        for (const form of ['NFC', 'NFD'] as const) expect(keyOf(`/${folder}/${name}`.normalize(form), fold)).toBe(key)
      }),
      { numRuns: 2_000 },
    )
  })

  test('spellings are one name everywhere, names in another case where the file system says so, and no others', () => {
    for (const fold of [false, true]) {
      const keys = spellings.map((names) => new Set(names.map((name) => keyOf(name, fold))))
      expect(keys.map(({ size }) => size)).toEqual(spellings.map(() => 1))
      expect(new Set(keys.flatMap((each) => [...each])).size).toBe(spellings.length)
    }
    for (const names of casePairs) {
      expect(new Set(names.map((name) => keyOf(name, true))).size).toBe(1)
      expect(new Set(names.map((name) => keyOf(name, false))).size).toBeGreaterThan(1)
    }
    expect(keyOf('k\u0131s', true)).not.toBe(keyOf('kis', true))
  })

  test('two sides that spell what they agreed on in their own ways have nothing to do', () => {
    const segment = fc.constantFrom(...spellings)
    const path = fc.array(segment, { minLength: 1, maxLength: 4 })
    const spell = (names: (readonly string[])[], which: number): string =>
      names.map((spelled, at) => `/${spelled[(which + at) % spelled.length]!}`).join('')
    const ways = fc.tuple(fc.nat(5), fc.nat(5), fc.nat(5))
    fc.assert(
      fc.property(fc.array(path, { maxLength: 6 }), ways, fc.boolean(), (found, [one, other, third], fold) => {
        // Where a file has a folder's place it is none.
        const isFolder = (names: string): boolean => found.some((each) => `${spell(each, 0)}`.startsWith(`${names}/`))
        const side = (which: number): Side =>
          Object.fromEntries(found.filter((each) => !isFolder(spell(each, 0))).map((each) => [spell(each, which), 'x']))
        const base = baseTree(side(one), fold)
        const listed = [...remoteTree(side(other), fold).nodes.values()].filter((node) => node.kind !== 'other')
        const remote = buildRemote({ nodes: listed, rejected: [] }, { fold, base })
        expect([...remote.nodes].filter(([key, { path }]) => key !== keyOf(path, fold))).toEqual([])
        expect(remote.skipped).toEqual([])
        const { ops } = plan({
          base,
          local: localTree(side(third), fold),
          remote,
          fold,
          device: 'd',
          date: '2026-11-21',
        })
        expect(ops).toEqual([])
      }),
      { numRuns: 500 },
    )
  })
})

describe('where names that differ in case are one', () => {
  const on = (base: Side, local: Side, remote: Side) => {
    const known = baseTree(base, true)
    const nodes = [...remoteTree(remote).nodes.values()].filter((node) => node.kind !== 'other')
    const tree = buildRemote({ nodes, rejected: [] }, { fold: true, base: known })
    const { ops } = plan({
      base: known,
      local: localTree(local, true),
      remote: tree,
      fold: true,
      device: 'd',
      date: '2026-11-21',
    })
    return {
      ops: ops.map((op) => `${op.op} ${op.here} ${op.there}`),
      skipped: tree.skipped.map(({ path, code }) => `${code} ${path}`),
    }
  }

  test('two files of the server that would be one here: the first comes, the other is reported and kept', () => {
    expect(on({}, {}, { '/A.txt': 'A', '/a.txt': 'a' })).toEqual({
      ops: ['download /A.txt /A.txt'],
      skipped: ['collision /a.txt'],
    })
  })

  test('the one that is here already stays the one', () => {
    expect(on({ '/a.txt': 'a' }, { '/a.txt': 'a' }, { '/A.txt': 'A', '/a.txt': 'a' })).toEqual({
      ops: [],
      skipped: ['collision /A.txt'],
    })
  })

  test('of two folders only one is entered', () => {
    expect(on({}, {}, { '/D/x': '1', '/d/x': '2', '/d/y': '3' })).toEqual({
      ops: ['download /D/x /D/x', 'make-local /D /D'],
      skipped: ['collision /d'],
    })
  })

  test('a name that only changed its case is neither deleted nor doubled: the other side follows', () => {
    expect(on({ '/a.txt': 'a' }, { '/a.txt': 'a' }, { '/A.txt': 'a' }).ops).toEqual(['move-local /A.txt /A.txt'])
    expect(on({ '/a.txt': 'a' }, { '/A.txt': 'a' }, { '/a.txt': 'a' }).ops).toEqual(['move-remote /A.txt /A.txt'])
    expect(on({ '/a.txt': 'a' }, { '/A.txt': 'b' }, { '/a.txt': 'a' }).ops).toEqual([
      'move-remote /A.txt /A.txt',
      'upload /A.txt /A.txt',
    ])
  })

  test('without a former agreement, or with two, the spelling of the server stands', () => {
    expect(on({}, { '/a.txt': 'a' }, { '/A.txt': 'a' }).ops).toEqual([
      'move-local /A.txt /A.txt',
      'record /A.txt /A.txt',
    ])
    expect(on({ '/a.txt': 'a' }, { '/A.txt': 'a' }, { '/a.TXT': 'a' }).ops).toEqual(['move-local /a.TXT /a.TXT'])
  })

  test('what is new in a folder goes where the folder is then', () => {
    expect(on({ '/Dir/x': 'x' }, { '/dir/x': 'x', '/dir/New': 'n' }, { '/DIR/x': 'x', '/DIR/Other': 'o' }).ops).toEqual(
      ['move-local /DIR /DIR', 'download /DIR/Other /DIR/Other', 'upload /DIR/New /DIR/New'],
    )
  })
})

test('a hole in a listing covers what lies below it, and nothing else', () => {
  const tree = remoteTree({})
  expect(isUncertain(tree, '/a')).toBe(false)
  tree.incomplete.add('/a/b')
  expect(['/a', '/a/b', '/a/b/c/d', '/a/bc'].map((key) => isUncertain(tree, key))).toEqual([false, true, true, false])
  tree.incomplete.add('/')
  expect(isUncertain(tree, '/a')).toBe(true)
})
