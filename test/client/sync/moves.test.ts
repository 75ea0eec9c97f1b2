import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openState } from '../../../src/client/sync/state/sync-state.ts'
import { makeBench, readTree, write, type Bench } from './bench.ts'

const PLAIN = { uploaded: { files: 0 }, downloaded: { files: 0 }, removed_here: 0, removed_there: 0, conflicts: [] }

/** A folder and an account that hold the same. */
async function agreed(files: Record<string, string>): Promise<Bench> {
  const bench = await makeBench()
  for (const [path, content] of Object.entries(files)) write(bench.root, path, content)
  await bench.sync()
  bench.server.log.length = 0
  bench.events.length = 0
  return bench
}

const rename = ({ root }: Bench, from: string, to: string): void => {
  mkdirSync(join(root, to, '..'), { recursive: true })
  renameSync(join(root, from), join(root, to))
}

/** Both sides hold this, and nobody has anything left to do. */
async function expectBoth({ root, server, sync }: Bench, files: Record<string, string | null>): Promise<void> {
  expect(readTree(root)).toEqual(files)
  expect(server.tree()).toEqual(files)
  server.log.length = 0
  expect(await sync()).toMatchObject({ in_sync: true, requests: 1, skipped: [] })
  expect(server.log).toEqual(['manifest'])
}

test('a file that was renamed here is moved on the server, and no byte is sent', async () => {
  const bench = await agreed({ 'a.txt': 'words', 'keep.txt': 'stays' })
  rename(bench, 'a.txt', 'deep/er/b.txt')
  const summary = await bench.sync()
  expect(summary).toMatchObject({ ...PLAIN, moved_there: 1, moved_here: 0 })
  expect(bench.server.log).toEqual(['manifest', 'move /a.txt /deep/er/b.txt'])
  expect(bench.events).toContainEqual({
    event: 'done',
    op: 'move-remote',
    path: '/a.txt',
    to: '/deep/er/b.txt',
    reason: 'moved_here',
  })
  await expectBoth(bench, { '/deep': null, '/deep/er': null, '/deep/er/b.txt': 'words', '/keep.txt': 'stays' })
})

test('a folder that was renamed here is one request, its files are not even read', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 300 }, (_, at) => [`photos/${at % 7}/${at}.jpg`, `picture ${at}`]),
  )
  const bench = await agreed(files)
  rename(bench, 'photos', 'pictures/2026')
  const summary = await bench.sync()
  expect(summary).toMatchObject({ ...PLAIN, moved_there: 1, hashed: 0 })
  expect(bench.server.log).toEqual(['manifest', 'move /photos /pictures/2026'])
  expect(bench.events.filter(({ event }) => event === 'done')).toEqual([
    { event: 'done', op: 'move-remote', path: '/photos', to: '/pictures/2026', reason: 'moved_here', files: 300 },
  ])
  expect(await bench.sync()).toMatchObject({ in_sync: true, requests: 1, hashed: 0 })
})

test.each(['here', 'on the server'])(
  'new files of one name that meet in a folder that was renamed %s are compared by their contents',
  async (side) => {
    const bench = await agreed({ 'd/a.txt': 'first', 'd/b.txt': 'second', 'd/c.txt': 'third' })
    const [mine, theirs] = side === 'here' ? ['e', 'd'] : ['d', 'e']
    if (side === 'here') rename(bench, 'd', 'e')
    else bench.server.rename('/d', '/e')
    for (const name of ['same.txt', 'other.txt']) {
      write(bench.root, `${mine}/${name}`, name === 'same.txt' ? 'same' : 'mine')
      bench.server.put(`/${theirs}/${name}`, name === 'same.txt' ? 'same' : 'theirs')
    }
    const { conflicts } = await bench.sync()
    expect(conflicts).toMatchObject([{ path: '/e/other.txt' }])
    const [copy] = Object.keys(readTree(bench.root)).filter((path) => path.includes('(conflict '))
    expect(copy).toMatch(/^\/e\/other \(conflict Laptop 2026-11-21 [0-9a-f]{8}\)\.txt$/)
    await expectBoth(bench, {
      '/e': null,
      '/e/a.txt': 'first',
      '/e/b.txt': 'second',
      '/e/c.txt': 'third',
      [copy!]: 'mine',
      '/e/other.txt': 'theirs',
      '/e/same.txt': 'same',
    })
  },
)

test('what was renamed on the server is renamed here, in place and with its time', async () => {
  const bench = await agreed({ 'd/a.txt': 'words', 'd/s/b.txt': 'more', 'c.txt': 'single' })
  bench.server.rename('/d', '/e')
  bench.server.rename('/c.txt', '/new/c.txt')
  const summary = await bench.sync()
  expect(summary).toMatchObject({ ...PLAIN, moved_here: 2, moved_there: 0, hashed: 0 })
  expect(bench.server.log).toEqual(['manifest'])
  expect(existsSync(join(bench.root, '.svc/trash'))).toBe(false)
  await expectBoth(bench, {
    '/e': null,
    '/e/a.txt': 'words',
    '/e/s': null,
    '/e/s/b.txt': 'more',
    '/new': null,
    '/new/c.txt': 'single',
  })
  expect(await bench.sync()).toMatchObject({ hashed: 0 })
})

test('what else changed in a renamed folder goes along: edits on either side, new files, deletions', async () => {
  const bench = await agreed({ 'd/1': 'one', 'd/2': 'two', 'd/3': 'three', 'd/4': 'four', 'd/5': 'five', 'd/6': 'six' })
  rename(bench, 'd', 'e')
  write(bench.root, 'e/1', 'edited here')
  write(bench.root, 'e/new here', 'x')
  rmSync(join(bench.root, 'e/2'))
  bench.server.put('/d/3', 'edited there')
  bench.server.put('/d/new there', 'y')
  const summary = await bench.sync()
  expect(summary).toMatchObject({ conflicts: [], moved_there: 1, uploaded: { files: 2 }, downloaded: { files: 2 } })
  await expectBoth(bench, {
    '/e': null,
    '/e/1': 'edited here',
    '/e/3': 'edited there',
    '/e/4': 'four',
    '/e/5': 'five',
    '/e/6': 'six',
    '/e/new here': 'x',
    '/e/new there': 'y',
  })
})

test('a file that the server deleted from a folder that was renamed here is kept', async () => {
  const bench = await agreed({ 'd/1': 'one', 'd/2': 'two' })
  rename(bench, 'd', 'e')
  bench.server.remove('/d/1')
  expect(await bench.sync()).toMatchObject({ moved_there: 1, uploaded: { files: 1 }, removed_here: 0 })
  await expectBoth(bench, { '/e': null, '/e/1': 'one', '/e/2': 'two' })
})

test('a renamed file that was edited on the other side is no move: both are kept', async () => {
  const bench = await agreed({ 'a.txt': 'words' })
  rename(bench, 'a.txt', 'b.txt')
  bench.server.put('/a.txt', 'edited there')
  expect(await bench.sync()).toMatchObject({ moved_there: 0, uploaded: { files: 1 }, downloaded: { files: 1 } })
  await expectBoth(bench, { '/a.txt': 'edited there', '/b.txt': 'words' })
})

test.each(['here', 'there'] as const)('names that were swapped %s are swapped, files and folders', async (side) => {
  const bench = await agreed({ a: 'A', b: 'B', 'd/x': 'X', 'd/y': 'Y', 'e/z': 'Z' })
  const swap = (one: string, other: string): void => {
    const move = (from: string, to: string): void =>
      side === 'here' ? rename(bench, from, to) : bench.server.rename(`/${from}`, `/${to}`)
    move(one, 'aside')
    move(other, one)
    move('aside', other)
  }
  swap('a', 'b')
  swap('d', 'e')
  const summary = await bench.sync()
  expect(summary).toMatchObject({ ...PLAIN, [side === 'here' ? 'moved_there' : 'moved_here']: 4 })
  await expectBoth(bench, { '/a': 'B', '/b': 'A', '/d': null, '/d/z': 'Z', '/e': null, '/e/x': 'X', '/e/y': 'Y' })
})

test('names that went round in a ring, and a log that was rotated', async () => {
  const bench = await agreed({
    '1': 'one',
    '2': 'two',
    '3': 'three',
    log: 'newest',
    'log.1': 'older',
    'log.2': 'oldest',
  })
  for (const [from, to] of [
    ['3', 'aside'],
    ['2', '3'],
    ['1', '2'],
    ['aside', '1'],
  ] as const)
    rename(bench, from, to)
  for (const [from, to] of [
    ['log.2', 'log.3'],
    ['log.1', 'log.2'],
    ['log', 'log.1'],
  ] as const)
    rename(bench, from, to)
  write(bench.root, 'log', 'just begun')
  const summary = await bench.sync()
  expect(summary).toMatchObject({ uploaded: { files: 1 }, downloaded: { files: 0 }, moved_there: 6, removed_there: 0 })
  await expectBoth(bench, {
    '/1': 'three',
    '/2': 'one',
    '/3': 'two',
    '/log': 'just begun',
    '/log.1': 'newest',
    '/log.2': 'older',
    '/log.3': 'oldest',
  })
})

test('moved on both sides to one place: nothing is left to do', async () => {
  const bench = await agreed({ 'd/1': 'one', 'd/2': 'two', 'a.txt': 'A' })
  rename(bench, 'd', 'e')
  bench.server.rename('/d', '/e')
  bench.server.put('/e/2', 'edited there')
  rename(bench, 'a.txt', 'b.txt')
  bench.server.rename('/a.txt', '/b.txt')
  expect(await bench.sync()).toMatchObject({
    conflicts: [],
    uploaded: { files: 0 },
    downloaded: { files: 1 },
    moved_here: 0,
  })
  await expectBoth(bench, { '/b.txt': 'A', '/e': null, '/e/1': 'one', '/e/2': 'edited there' })
})

test('moved on both sides to different places: the server decides, and what was edited here stays edited', async () => {
  const bench = await agreed({ 'd/1': 'one', 'd/2': 'two', 'a.txt': 'A' })
  rename(bench, 'd', 'mine')
  write(bench.root, 'mine/2', 'edited here')
  bench.server.rename('/d', '/theirs')
  rename(bench, 'a.txt', 'mine.txt')
  bench.server.rename('/a.txt', '/theirs.txt')
  expect(await bench.sync()).toMatchObject({ conflicts: [], uploaded: { files: 1 }, downloaded: { files: 0 } })
  await expectBoth(bench, { '/theirs': null, '/theirs.txt': 'A', '/theirs/1': 'one', '/theirs/2': 'edited here' })
})

test('one folder into the other here, the other way round on the server: the server decides', async () => {
  const bench = await agreed({ 'A/x': 'X', 'B/y': 'Y' })
  rename(bench, 'A', 'B/A')
  bench.server.rename('/B', '/A/B')
  expect(await bench.sync()).toMatchObject(PLAIN)
  await expectBoth(bench, { '/A': null, '/A/B': null, '/A/B/y': 'Y', '/A/x': 'X' })
})

test('a file moved into a folder that the other side deleted, or renamed', async () => {
  const bench = await agreed({ a: 'A', b: 'B', 'gone/x': 'X', 'renamed/y': 'Y' })
  rename(bench, 'a', 'gone/a')
  rename(bench, 'b', 'renamed/b')
  bench.server.remove('/gone')
  bench.server.rename('/renamed', '/other')
  expect(await bench.sync()).toMatchObject({ conflicts: [], uploaded: { files: 0 }, downloaded: { files: 0 } })
  await expectBoth(bench, { '/gone': null, '/gone/a': 'A', '/other': null, '/other/b': 'B', '/other/y': 'Y' })
})

test('the same name given to two things: the one from here becomes a conflict copy', async () => {
  const bench = await agreed({ a: 'A', b: 'B' })
  rename(bench, 'a', 'c')
  bench.server.rename('/b', '/c')
  const { conflicts } = await bench.sync()
  expect(conflicts).toHaveLength(1)
  await expectBoth(bench, { '/c': 'B', [conflicts[0]!.copy]: 'A' })
})

test('what is not synchronised moves along with a folder that the server renamed', async () => {
  const bench = await agreed({ 'd/1': 'one' })
  symlinkSync('/nowhere', join(bench.root, 'd/link'))
  bench.server.rename('/d', '/e')
  expect(await bench.sync()).toMatchObject({ moved_here: 1 })
  expect(readTree(bench.root)).toEqual({ '/e': null, '/e/1': 'one', '/e/link': '(other)' })
})

test('a file that a crash emptied is not moved for an edit: it is fetched again where its folder went', async () => {
  const bench = await agreed({ 'd/2': 'two', 'd/3': 'three' })
  write(bench.root, 'd/1', 'one', 1_600_000_000)
  await bench.sync()
  rename(bench, 'd', 'e')
  write(bench.root, 'e/1', '\0\0\0', 1_600_000_000)
  expect(await bench.sync()).toMatchObject({ downloaded: { files: 1 }, skipped: [{ path: '/e/1', code: 'damaged' }] })
  expect(bench.server.tree()).toEqual({ '/e': null, '/e/1': 'one', '/e/2': 'two', '/e/3': 'three' })
})

test('moves are no deletions: not even all files at once stop a run', async () => {
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`${at}.txt`, `words ${at}`]))
  const bench = await agreed(files)
  for (const name of Object.keys(files)) rename(bench, name, `renamed ${name}`)
  expect(await bench.sync()).toMatchObject({ ...PLAIN, moved_there: 40 })
})

test('many files that were renamed one by one share requests, and one that cannot be moved holds up no other', async () => {
  const names = Array.from({ length: 40 }, (_, at) => `IMG_${at}.jpg`)
  const bench = await makeBench()
  bench.server.features = { files_batch: { max_operations: 25, if_empty: true } }
  for (const name of names) write(bench.root, name, `picture of ${name}`)
  await bench.sync()
  for (const name of names) rename(bench, name, name.replace('IMG', 'photo'))
  bench.server.mischief = (action, _, server) => {
    if (action === 'files_batch' && !server.files.has('/photo_7.jpg')) server.put('/photo_7.jpg', 'theirs')
  }
  bench.server.log.length = 0
  const { conflicts, moved_there, uploaded } = await bench.sync()
  expect(bench.server.requests('files_batch')).toBe(2)
  expect(bench.server.requests('move')).toBe(0)
  expect({ conflicts: conflicts.length, moved_there, uploaded: uploaded.files }).toEqual({
    conflicts: 1,
    moved_there: 39,
    uploaded: 1,
  })
  expect(Object.keys(readTree(bench.root))).toHaveLength(41)
  expect(readTree(bench.root)).toEqual(bench.server.tree())
})

test('a dry run says what would be moved, and changes nothing', async () => {
  const bench = await agreed({ a: 'A', 'd/x': 'X' })
  rename(bench, 'a', 'b')
  bench.server.rename('/d', '/e')
  const before = readTree(bench.root)
  expect(await bench.sync({ dryRun: true })).toMatchObject({ in_sync: false, moved_here: 0 })
  expect(bench.events.filter(({ event }) => event === 'plan')).toEqual([
    { event: 'plan', op: 'move-remote', path: '/a', to: '/b', reason: 'moved_here' },
    { event: 'plan', op: 'move-local', path: '/d', to: '/e', reason: 'moved_there', files: 1 },
  ])
  expect(readTree(bench.root)).toEqual(before)
})

test('a target that somebody took meanwhile is never overwritten', async () => {
  const bench = await agreed({ a: 'A', d: 'D' })
  rename(bench, 'a', 'b')
  bench.server.mischief = (action, _, server) => {
    if (action === 'move' && !server.files.has('/b')) server.put('/b', 'theirs')
  }
  const { conflicts } = await bench.sync()
  expect(conflicts).toHaveLength(1)
  await expectBoth(bench, { '/b': 'theirs', [conflicts[0]!.copy]: 'A', '/d': 'D' })
})

test('a source that somebody edited meanwhile is not moved', async () => {
  const bench = await agreed({ a: 'A' })
  rename(bench, 'a', 'b')
  let edited = false
  bench.server.mischief = (action, _, server) => {
    if (action === 'move' && !edited) server.put('/a', 'theirs')
    edited ||= action === 'move'
  }
  await bench.sync()
  await expectBoth(bench, { '/a': 'theirs', '/b': 'A' })
})

test('here too: what is written to the target at the last moment stays', async () => {
  const bench = await agreed({ a: 'A' })
  bench.server.rename('/a', '/b')
  bench.server.mischief = (action) => {
    if (action === 'manifest') queueMicrotask(() => undefined)
  }
  // The listing is answered before this side is planned, and written to before it is changed.
  const { events } = bench
  const push = events.push.bind(events)
  events.push = (...more) => {
    if (more.some(({ event }) => event === 'planned') && !existsSync(join(bench.root, 'b')))
      writeFileSync(join(bench.root, 'b'), 'just now')
    return push(...more)
  }
  const { conflicts } = await bench.sync()
  expect(conflicts).toHaveLength(1)
  expect(readTree(bench.root)).toEqual({ '/b': 'A', [conflicts[0]!.copy]: 'just now' })
})

test('an answer that gets lost is made up for by the next look', async () => {
  const bench = await agreed({ 'd/1': 'one', 'd/2': 'two' })
  rename(bench, 'd', 'e')
  let lost = false
  bench.server.mischief = (action, params, server) => {
    if (action !== 'move' || lost) return
    lost = true
    server.rename(String(params['from']), String(params['to']))
    throw new Error('cut off')
  }
  await expect(bench.sync()).rejects.toThrow('cut off')
  expect(await bench.sync()).toMatchObject({ ...PLAIN, moved_there: 0 })
  await expectBoth(bench, { '/e': null, '/e/1': 'one', '/e/2': 'two' })
})

test('where upper and lower case are one, a name that only changed its case changes it on the other side too', async () => {
  const bench = await makeBench()
  // Makes this file system pass for one that folds case.
  writeFileSync(join(bench.root, '.svc/ROOT.JSON'), '')
  write(bench.root, 'Photos/One.jpg', '1')
  write(bench.root, 'Notes.txt', 'n')
  await bench.sync()
  bench.server.rename('/Photos', '/photos')
  bench.server.rename('/photos/One.jpg', '/photos/one.JPG')
  rename(bench, 'Notes.txt', 'NOTES.txt')
  expect(await bench.sync()).toMatchObject({ ...PLAIN, moved_here: 2, moved_there: 1, skipped: [] })
  await expectBoth(bench, { '/NOTES.txt': 'n', '/photos': null, '/photos/one.JPG': '1' })
  expect(existsSync(join(bench.root, '.svc/trash'))).toBe(false)
})

/** Leaves things as a run does that is killed while two files take each other's places here. */
async function killedSwap(steps: readonly string[]): Promise<Bench> {
  const bench = await agreed({ a: 'A', b: 'B' })
  bench.server.rename('/a', '/aside')
  bench.server.rename('/b', '/a')
  bench.server.rename('/aside', '/b')
  const trash = join(bench.root, '.svc/trash/killed')
  mkdirSync(trash, { recursive: true })
  const { root_id } = JSON.parse(readFileSync(join(bench.root, '.svc/root.json'), 'utf8')) as { root_id: string }
  const { server } = bench
  const { state } = openState(join(bench.root, '.svc/state.db'), {
    root_id,
    server_id: server.serverId,
    user_id: server.userId,
  })
  const begin = (key: string, to: string): void =>
    state.commit([
      {
        begin: {
          kind: 'park',
          side: 'here',
          key,
          from: key,
          to,
          at: join(trash, key),
          placing: steps.includes('placing'),
        },
      },
    ])
  begin('/a', '/b')
  begin('/b', '/a')
  state.close()
  for (const step of steps) {
    const [what, name = ''] = step.split(' ')
    if (what === 'park') renameSync(join(bench.root, name), join(trash, name))
    if (what === 'place') renameSync(join(trash, name), join(bench.root, name === 'a' ? 'b' : 'a'))
  }
  return bench
}

test.each([
  [[]],
  [['park a']],
  [['park a', 'park b']],
  [['park a', 'park b', 'placing']],
  [['park a', 'park b', 'placing', 'place a']],
  [['park a', 'park b', 'placing', 'place a', 'place b']],
] as const)('a swap here that was killed after %j is put in order by the next run', async (steps) => {
  const bench = await killedSwap(steps)
  expect(await bench.sync()).toMatchObject({ conflicts: [], uploaded: { files: 0 }, downloaded: { files: 0 } })
  await expectBoth(bench, { '/a': 'B', '/b': 'A' })
})

test('what stood apart when a run was killed, and whose places were taken since, comes back beside them', async () => {
  const bench = await killedSwap(['park a', 'park b', 'placing'])
  write(bench.root, 'a', 'new a')
  write(bench.root, 'b', 'new b')
  await bench.sync()
  const contents = Object.values(readTree(bench.root))
  for (const words of ['A', 'B', 'new a', 'new b']) expect(contents).toContain(words)
  await expectBoth(bench, readTree(bench.root))
})

test.each([1, 2, 3, 4])(
  'a swap on the server that is cut off at its step %i is put in order by the next run',
  async (step) => {
    const bench = await agreed({ a: 'A', b: 'B' })
    rename(bench, 'a', 'aside')
    rename(bench, 'b', 'a')
    rename(bench, 'aside', 'b')
    let count = 0
    bench.server.mischief = (action) => {
      if (action === 'move' && (count += 1) >= step) throw new Error('killed')
    }
    await expect(bench.sync()).rejects.toThrow('killed')
    bench.server.mischief = undefined
    await bench.sync()
    await expectBoth(bench, { '/a': 'B', '/b': 'A' })
  },
)
