import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fault } from '../../../src/contract/errors.ts'
import { readStatus } from '../../../src/client/sync/status.ts'
import { makeBench, readTree, write } from './bench.ts'

const NOTHING = { uploaded: { files: 0 }, downloaded: { files: 0 }, removed_here: 0, removed_there: 0, conflicts: [] }

test('what rules name is neither sent nor fetched, and the rules are files like any other', async () => {
  const { root, server, sync } = await makeBench()
  write(root, '.svcignore', '*.log\nbuild/\n')
  write(root, 'a.log', 'here')
  write(root, 'build/out', 'made')
  write(root, 'src/.svcignore', 'generated.*')
  write(root, 'src/generated.ts', 'made')
  write(root, 'src/main.ts', 'written')
  server.put('/b.log', 'there')
  server.put('/src/build/x', 'made there')
  expect(await sync()).toMatchObject({ uploaded: { files: 3 }, downloaded: { files: 0 }, skipped: [], in_sync: true })
  expect(server.text('/.svcignore')).toBe('*.log\nbuild/\n')
  expect(Object.keys(server.tree())).toEqual([
    '/.svcignore',
    '/b.log',
    '/src',
    '/src/.svcignore',
    '/src/build',
    '/src/build/x',
    '/src/main.ts',
  ])
  expect(await sync()).toMatchObject({ ...NOTHING, in_sync: true, hashed: 0 })
})

test('what comes to be ignored stays as it is on both sides, and what no longer is ignored is compared anew', async () => {
  const { root, server, sync, events } = await makeBench()
  for (const name of ['keep.txt', 'a.log', 'b.log', 'c.log', 'logs/d.txt']) write(root, name, name)
  await sync()
  write(root, '.svcignore', '*.log\nlogs/\n')
  expect(await sync()).toMatchObject({ ...NOTHING, uploaded: { files: 1 } })
  expect(events).toContainEqual({
    event: 'notice',
    code: 'ignored',
    message: '5 items are ignored from now on; nothing is deleted because of it.',
  })
  rmSync(join(root, 'a.log'))
  server.remove('/b.log')
  write(root, 'c.log', 'edited here')
  server.put('/c.log', 'edited there')
  expect(await sync()).toMatchObject({ ...NOTHING, in_sync: true })
  expect([server.text('/a.log'), server.text('/c.log')]).toEqual(['a.log', 'edited there'])

  rmSync(join(root, '.svcignore'))
  const { conflicts } = await sync()
  expect(conflicts.map(({ path }) => path)).toEqual(['/c.log'])
  const both = readTree(root)
  expect(both).toEqual(server.tree())
  expect(both).toMatchObject({
    '/a.log': 'a.log',
    '/b.log': 'b.log',
    '/c.log': 'edited there',
    '/logs/d.txt': 'logs/d.txt',
  })
  expect(both).not.toHaveProperty('/.svcignore')
})

test('rules that come from the server hold before anything else is done', async () => {
  const { root, server, sync } = await makeBench()
  server.put('/.svcignore', '*.log')
  server.put('/d/.svcignore', '*.tmp')
  server.put('/x.log', 'not for here')
  write(root, 'y.log', 'not for there')
  write(root, 'd/z.tmp', 'nor this')
  write(root, 'a.txt', 'words')
  expect(await sync()).toMatchObject({ uploaded: { files: 1 }, downloaded: { files: 2 }, in_sync: true })
  expect(readTree(root)).not.toHaveProperty('/x.log')
  expect(Object.keys(server.tree())).toEqual(['/.svcignore', '/a.txt', '/d', '/d/.svcignore', '/x.log'])
  expect(await sync()).toMatchObject({ ...NOTHING, in_sync: true })
})

test('rules from the server that cannot be stored here stop the run: what they protect is not uploaded', async () => {
  const { root, server, sync } = await makeBench()
  server.put('/.svcignore', '*.key')
  write(root, 'my.key', 'secret')
  server.mischief = (_, { path }) => (path === '/.svcignore' ? Promise.reject(fault('internal')) : undefined)
  await expect(sync()).rejects.toMatchObject({
    name: 'Refused',
    reason: 'rules',
    message: expect.stringContaining('/.svcignore'),
  })
  expect(server.tree()).toEqual({ '/.svcignore': '*.key' })
  server.mischief = undefined
  expect(await sync()).toMatchObject({ ...NOTHING, downloaded: { files: 1 }, in_sync: true })
  expect(server.tree()).toEqual({ '/.svcignore': '*.key' })
})

test('a file that the server renames to the name of the rules holds before anything else is done', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'rules.txt', '*.key')
  await sync()
  server.rename('/rules.txt', '/.svcignore')
  write(root, 'my.key', 'secret')
  expect(await sync()).toMatchObject({ ...NOTHING, moved_here: 1, in_sync: true })
  expect(server.tree()).toEqual({ '/.svcignore': '*.key' })
  server.rename('/.svcignore', '/rules.txt')
  expect(await sync()).toMatchObject({ uploaded: { files: 1 }, moved_here: 1, in_sync: true })
  expect(server.tree()).toEqual({ '/my.key': 'secret', '/rules.txt': '*.key' })
})

test('a folder that holds something ignored survives its deletion on the other side, and is reported', async () => {
  const { root, server, sync } = await makeBench()
  write(root, '.svcignore', 'secret')
  write(root, 'd/secret', 'mine')
  write(root, 'd/plain', 'ours')
  await sync()
  server.remove('/d')
  expect(await sync()).toMatchObject({ removed_here: 1, skipped: [{ path: '/d', code: 'kept' }] })
  expect(readTree(root)).toEqual({ '/.svcignore': 'secret', '/d': null, '/d/secret': 'mine' })
})

test('what is ignored moves along with its folder, when the server renames it', async () => {
  const { root, server, sync } = await makeBench()
  write(root, '.svcignore', 'secret')
  write(root, 'd/secret', 'mine')
  write(root, 'd/plain', 'ours')
  await sync()
  server.rename('/d', '/e')
  expect(await sync()).toMatchObject({ ...NOTHING, moved_here: 1, skipped: [] })
  expect(readTree(root)).toEqual({ '/.svcignore': 'secret', '/e': null, '/e/plain': 'ours', '/e/secret': 'mine' })
})

test('a name that is ignored as a folder on one side only is left alone on both', async () => {
  const { root, server, sync } = await makeBench()
  write(root, '.svcignore', 'thing/')
  write(root, 'thing', 'a file')
  server.put('/thing/x', 'in a folder')
  expect(await sync()).toMatchObject({ uploaded: { files: 1 }, downloaded: { files: 0 }, in_sync: true })
  expect(readTree(root)).toMatchObject({ '/thing': 'a file' })
  expect(server.tree()).toMatchObject({ '/thing/x': 'in a folder' })
})

test('names under which things are moved are ignored on both sides, whatever the rules say', async () => {
  const { root, server, sync } = await makeBench()
  write(root, '.svcignore', '!.svc-tmp-*')
  write(root, 'd/.svc-tmp-here', 'x')
  server.put('/.svc-tmp-0123456789ab-there', 'y')
  expect(await sync()).toMatchObject({ uploaded: { files: 1 }, downloaded: { files: 0 }, in_sync: true })
})

test('a dry run names the rule for everything that is ignored', async () => {
  const { root, server, sync, events } = await makeBench()
  write(root, '.svcignore', '# rules\n*.log\n')
  write(root, 'd/.svcignore', 'made/\n')
  write(root, 'a.log', 'x')
  write(root, 'd/made/1', 'x')
  server.put('/b.log', 'y')
  server.put('/e/.svcignore', 'z')
  await sync({ dryRun: true })
  expect(events.filter(({ event }) => event === 'ignored')).toEqual([
    { event: 'ignored', path: '/b.log', file: '/.svcignore', line: 2, pattern: '*.log' },
    { event: 'ignored', path: '/a.log', file: '/.svcignore', line: 2, pattern: '*.log' },
    { event: 'ignored', path: '/d/made', file: '/d/.svcignore', line: 1, pattern: 'made/' },
  ])
  expect(events).toContainEqual(expect.objectContaining({ event: 'notice', code: 'rules_change' }))
})

test('the status tells what is ignored, and does not take it for deleted', async () => {
  const { root, stateFolder, time, sync } = await makeBench()
  write(root, 'a.log', 'x')
  write(root, 'd/a', 'x')
  write(root, 'b', 'y')
  await sync()
  write(root, '.svcignore', '*.log')
  renameSync(join(root, 'd'), join(root, 'e'))
  const { pending, ignored } = await readStatus({ path: root, stateFolder, clock: { now: () => time.now } })
  expect(ignored).toEqual([{ path: '/a.log', file: '/.svcignore', line: 1, pattern: '*.log' }])
  expect(pending).toEqual([
    { path: '/.svcignore', change: 'new' },
    { path: '/e', change: 'moved', from: '/d' },
  ])
})

test.each([
  ['is a symbolic link', (root: string) => symlinkSync('/dev/null', join(root, '.svcignore'))],
  ['is larger than 1 MB', (root: string) => write(root, '.svcignore', 'x'.repeat(1_048_577))],
  ['contains ** more than 4 times', (root: string) => write(root, '.svcignore', '**/a/**/a/**/a/**/a/**/a')],
])(
  'rules of which nobody knows what they mean stop a run before it does anything: one that %s',
  async (message, make) => {
    const { root, server, sync } = await makeBench()
    write(root, 'secret', 'mine')
    make(root)
    await expect(sync()).rejects.toMatchObject({
      name: 'Refused',
      reason: 'rules',
      exitCode: 8,
      message: expect.stringContaining(message),
    })
    expect(server.tree()).toEqual({})
  },
)

test('a folder with the name of the rules is a folder', async () => {
  const { root, server, sync } = await makeBench()
  mkdirSync(join(root, '.svcignore'))
  write(root, '.svcignore/a', 'x')
  await sync()
  expect(server.tree()).toEqual({ '/.svcignore': null, '/.svcignore/a': 'x' })
})
