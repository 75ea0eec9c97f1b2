import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readStatus } from '../../../src/client/sync/status.ts'
import { makeBench, NOW, readTree, write } from './bench.ts'
import { sha256Of } from './trees.ts'

test('brings a new folder and a filled account together, in both directions', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'a.txt', 'from here')
  write(root, 'photos/cat.jpg', 'meow')
  server.put('/b.txt', 'from there', 1_500_000_000)
  server.put('/deep/er/c.txt', 'deep')
  server.mkdir('/empty')

  const summary = await sync()

  const both = {
    '/a.txt': 'from here',
    '/b.txt': 'from there',
    '/deep': null,
    '/deep/er': null,
    '/deep/er/c.txt': 'deep',
    '/empty': null,
    '/photos': null,
    '/photos/cat.jpg': 'meow',
  }
  expect(readTree(root)).toEqual(both)
  expect(server.tree()).toEqual(both)
  expect(summary).toMatchObject({
    uploaded: { files: 2, bytes: 13 },
    downloaded: { files: 2, bytes: 14 },
    conflicts: [],
    skipped: [],
    in_sync: true,
  })
  expect((await stat(join(root, 'b.txt'))).mtimeMs).toBe(1_500_000_000_000)
  expect(readdirSync(join(root, '.svc', 'tmp'))).toEqual([])
})

test('a second run asks once, reads no file and changes nothing', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'a.txt', 'one')
  write(root, 'd/b.txt', 'two')
  server.put('/c.txt', 'three')
  await sync()
  await sync()
  const before = readTree(root)
  server.log.length = 0

  const summary = await sync()

  expect(server.log).toEqual(['manifest'])
  expect(summary).toMatchObject({
    requests: 1,
    hashed: 0,
    in_sync: true,
    uploaded: { files: 0 },
    downloaded: { files: 0 },
  })
  expect(readTree(root)).toEqual(before)
})

test('edits and deletions travel both ways', async () => {
  const { root, server, sync } = await makeBench()
  for (const name of ['edit-here', 'edit-there', 'gone-here', 'gone-there', 'stays']) write(root, `d/${name}.txt`, name)
  await sync()

  write(root, 'd/edit-here.txt', 'edited here')
  server.put('/d/edit-there.txt', 'edited there')
  await rm(join(root, 'd/gone-here.txt'))
  server.remove('/d/gone-there.txt')
  const summary = await sync()

  const both = {
    '/d': null,
    '/d/edit-here.txt': 'edited here',
    '/d/edit-there.txt': 'edited there',
    '/d/stays.txt': 'stays',
  }
  expect(readTree(root)).toEqual(both)
  expect(server.tree()).toEqual(both)
  expect(summary).toMatchObject({
    uploaded: { files: 1 },
    downloaded: { files: 1 },
    removed_here: 1,
    removed_there: 1,
    skipped: [],
  })
})

test('what the engine replaces or deletes here lies in the trash', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'd/old.txt', 'old words')
  write(root, 'd/gone.txt', 'last words')
  await sync()
  server.put('/d/old.txt', 'new words')
  server.remove('/d/gone.txt')
  await sync()

  const [run] = readdirSync(join(root, '.svc', 'trash'))
  expect(run).toMatch(/^2026-11-21T12-00-00Z-[0-9a-f]{4}$/)
  expect(readTree(join(root, '.svc', 'trash', run!))).toEqual({
    '/d': null,
    '/d/gone.txt': 'last words',
    '/d/old.txt': 'old words',
  })
})

/** A folder in whose trash is one file. */
async function withTrash() {
  const bench = await makeBench()
  write(bench.root, 'a.txt', 'a')
  write(bench.root, 'b.txt', 'b')
  await bench.sync()
  bench.server.remove('/a.txt')
  await bench.sync()
  return bench
}

test('the trash is emptied after 30 days', async () => {
  const { root, sync, time } = await withTrash()
  const trash = join(root, '.svc', 'trash')
  expect(readdirSync(trash)).toHaveLength(1)
  time.now += 29 * 86_400_000
  await sync()
  expect(readdirSync(trash)).toHaveLength(1)
  time.now += 2 * 86_400_000
  await sync()
  expect(readdirSync(trash)).toEqual([])
})

test('a clock that jumps ahead does not empty the trash', async () => {
  const { root, sync, time } = await withTrash()
  const right = time.now
  for (const hours of [0, 1, 23]) {
    time.now = right + 40 * 86_400_000 + hours * 3_600_000
    await sync()
  }
  expect(readdirSync(join(root, '.svc', 'trash'))).toHaveLength(1)
  time.now = right + 2 * 86_400_000
  await sync()
  time.now += 40 * 86_400_000
  await sync()
  expect(readdirSync(join(root, '.svc', 'trash'))).toHaveLength(1)
})

test('where both sides edited, the server keeps the path and the local edit becomes a conflict copy on both sides', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'd/plan.txt', 'first')
  await sync()
  write(root, 'd/plan.txt', 'mine')
  server.put('/d/plan.txt', 'theirs')

  const summary = await sync()

  const copy = `/d/plan (conflict Laptop 2026-11-21 ${sha256Of('mine').slice(0, 8)}).txt`
  expect(summary.conflicts).toEqual([{ path: '/d/plan.txt', copy }])
  const both = { '/d': null, [copy]: 'mine', '/d/plan.txt': 'theirs' }
  expect(readTree(root)).toEqual(both)
  expect(server.tree()).toEqual(both)

  expect(await sync()).toMatchObject({ conflicts: [], uploaded: { files: 0 }, downloaded: { files: 0 } })
  expect(readTree(root)).toEqual(both)
})

test('equal edits on both sides are no conflict and are not transferred', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'a.txt', 'first')
  await sync()
  write(root, 'a.txt', 'same')
  server.put('/a.txt', 'same')
  server.log.length = 0
  expect(await sync()).toMatchObject({ conflicts: [], uploaded: { files: 0 }, downloaded: { files: 0 }, in_sync: true })
  expect(server.log).toEqual(['manifest'])
  expect(readTree(root)).toEqual({ '/a.txt': 'same' })
})

test('an edit beats a deletion, from either side', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'd/here.txt', 'one')
  write(root, 'd/there.txt', 'two')
  await sync()
  write(root, 'd/here.txt', 'edited here')
  server.remove('/d/here.txt')
  server.put('/d/there.txt', 'edited there')
  await rm(join(root, 'd/there.txt'))
  await sync()
  const both = { '/d': null, '/d/here.txt': 'edited here', '/d/there.txt': 'edited there' }
  expect(readTree(root)).toEqual(both)
  expect(server.tree()).toEqual(both)
})

test('deleting a folder spares what its deleter did not know about', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'one/old.txt', 'old')
  write(root, 'two/old.txt', 'old')
  await sync()
  await rm(join(root, 'one'), { recursive: true })
  server.put('/one/new.txt', 'new there')
  server.remove('/two')
  write(root, 'two/new.txt', 'new here')
  await sync()
  const both = { '/one': null, '/one/new.txt': 'new there', '/two': null, '/two/new.txt': 'new here' }
  expect(readTree(root)).toEqual(both)
  expect(server.tree()).toEqual(both)
})

test('a whole folder goes, file by file and from the leaves up', async () => {
  const { root, server, sync } = await makeBench()
  for (const name of ['a/b/1', 'a/b/2', 'a/3', 'keep']) write(root, name, name)
  await sync()
  await rm(join(root, 'a'), { recursive: true })
  server.log.length = 0
  await sync()
  expect(server.tree()).toEqual({ '/keep': 'keep' })
  expect(server.log.filter((line) => line.startsWith('delete')).slice(-2)).toEqual(['delete /a/b', 'delete /a'])

  write(root, 'x/y/1', '1')
  await sync()
  server.remove('/x')
  await sync()
  expect(readTree(root)).toEqual({ '/keep': 'keep' })
})

test('a file that becomes a folder, and a folder that becomes a file, do so on the other side', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'f', 'file')
  write(root, 'd/x', 'x')
  write(root, 'f2', 'file')
  write(root, 'd2/x', 'x')
  write(root, 'other', 'o')
  await sync()
  await rm(join(root, 'f'))
  write(root, 'f/inside', 'new')
  await rm(join(root, 'd'), { recursive: true })
  write(root, 'd', 'now a file')
  server.remove('/f2')
  server.put('/f2/inside', 'new')
  server.remove('/d2')
  server.put('/d2', 'now a file')

  expect(await sync()).toMatchObject({ conflicts: [], skipped: [] })

  const both = {
    '/d': 'now a file',
    '/d2': 'now a file',
    '/f': null,
    '/f/inside': 'new',
    '/f2': null,
    '/f2/inside': 'new',
    '/other': 'o',
  }
  expect(readTree(root)).toEqual(both)
  expect(server.tree()).toEqual(both)
})

test('a new folder here and a new file there under one name: the folder is set aside with everything in it', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'thing/inside', 'mine')
  server.put('/thing', 'theirs')
  const summary = await sync()
  const both = {
    '/thing': 'theirs',
    '/thing (conflict Laptop 2026-11-21)': null,
    '/thing (conflict Laptop 2026-11-21)/inside': 'mine',
  }
  expect(readTree(root)).toEqual(both)
  expect(server.tree()).toEqual(both)
  expect(summary.conflicts).toHaveLength(1)
})

test('a renamed file is sent under its new name and deleted under the old one', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'a.txt', 'same')
  write(root, 'b.txt', 'other')
  await sync()
  await rename(join(root, 'a.txt'), join(root, 'c.txt'))
  await sync()
  expect(server.tree()).toEqual({ '/b.txt': 'other', '/c.txt': 'same' })
  expect(readTree(root)).toEqual(server.tree())
})

test('another modification time alone is no change: it is taken over without a transfer', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'a.txt', 'same', 1_600_000_000)
  write(root, 'b.txt', 'same', 1_600_000_000)
  await sync()
  server.put('/a.txt', 'same', 1_650_000_000)
  await utimes(join(root, 'b.txt'), 1_660_000_000, 1_660_000_000)
  server.log.length = 0
  const summary = await sync()
  expect(server.log).toEqual(['manifest'])
  expect(summary).toMatchObject({ uploaded: { files: 0 }, downloaded: { files: 0 }, in_sync: true })
  expect((await stat(join(root, 'a.txt'))).mtimeMs).toBe(1_650_000_000_000)
  expect((await stat(join(root, 'b.txt'))).mtimeMs).toBe(1_660_000_000_000)
  expect(await sync()).toMatchObject({ hashed: 0 })
})

test('an edit that keeps size and modification time is seen all the same', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'a.txt', 'abc', 1_600_000_000)
  await sync()
  await writeFile(join(root, 'a.txt'), 'xyz')
  await utimes(join(root, 'a.txt'), 1_600_000_000, 1_600_000_000)
  await sync()
  expect(server.text('/a.txt')).toBe('xyz')
})

test('a file whose time is that of its hashing is read again, because an edit could hide behind it', async () => {
  const { root, sync, time } = await makeBench()
  write(root, 'fresh.txt', 'abc', time.now / 1_000)
  await sync()
  expect(await sync()).toMatchObject({ hashed: 1 })
  time.now += 10_000
  expect(await sync()).toMatchObject({ hashed: 1 })
  expect(await sync()).toMatchObject({ hashed: 0 })
})

test('a file emptied by a crash is fetched again, never sent', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'zero.txt', 'words', 1_600_000_000)
  write(root, 'blank.txt', 'words', 1_600_000_000)
  await sync()
  for (const [name, content] of [
    ['zero.txt', ''],
    ['blank.txt', '\0\0\0\0\0'],
  ] as const)
    write(root, name, content, 1_600_000_000)

  const summary = await sync()

  expect(server.tree()).toEqual({ '/blank.txt': 'words', '/zero.txt': 'words' })
  expect(readTree(root)).toEqual(server.tree())
  expect(new Set(summary.skipped.map(({ path, code }) => `${path} ${code}`))).toEqual(
    new Set(['/blank.txt damaged', '/zero.txt damaged']),
  )
  expect(await sync()).toMatchObject({ skipped: [] })
})

test('emptying a file is an edit like any other', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'a.txt', 'words', 1_600_000_000)
  await sync()
  write(root, 'a.txt', '', 1_600_000_100)
  await sync()
  expect(server.text('/a.txt')).toBe('')
})

test('large files travel whole, in many pieces', async () => {
  const { root, server, sync } = await makeBench()
  const big = Buffer.alloc(3 * 1_048_576 + 17)
  for (let at = 0; at < big.length; at += 1) big[at] = (at * 31 + (at >> 9)) % 251
  write(root, 'big.bin', big)
  server.put('/huge.bin', Buffer.concat([big, big]))
  await sync()
  expect(server.files.get('/big.bin')!.content.equals(big)).toBe(true)
  const { size } = await stat(join(root, 'huge.bin'))
  expect(size).toBe(2 * big.length)
  expect(await sync()).toMatchObject({ in_sync: true, hashed: 0 })
})

test('an executable keeps its mode when its content is replaced, and new files get the usual one', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'run.sh', 'echo 1')
  await chmod(join(root, 'run.sh'), 0o755)
  await sync()
  server.put('/run.sh', 'echo 2')
  server.put('/plain.txt', 'plain')
  await sync()
  expect((await stat(join(root, 'run.sh'))).mode & 0o777).toBe(0o755)
  expect((await stat(join(root, 'plain.txt'))).mode & 0o777).toBe(0o666 & ~process.umask())
})

test('links, sockets and odd names are reported and left alone, and so is what the server has under their names', async () => {
  const { root, server, sync } = await makeBench()
  const outside = join(root, '..', `outside-${process.pid}.txt`)
  await writeFile(outside, 'not ours')
  await symlink(outside, join(root, 'link'))
  await symlink('.', join(root, 'loop'))
  write(root, 'back\\slash', 'x')
  write(root, 'Teamchat/x', 'x')
  write(root, 'fine.txt', 'fine')
  const listening = createServer().listen(join(root, 'socket'))
  await once(listening, 'listening')
  server.put('/link', 'theirs')
  server.put('/loop/deep.txt', 'theirs')

  const summary = await sync()
  await rm(outside)
  listening.close()

  expect(Object.fromEntries(summary.skipped.map(({ path, code }) => [`${path} ${code}`, true]))).toEqual({
    '/link symlink': true,
    '/loop symlink': true,
    '/socket special': true,
    '/back\\slash bad_name': true,
    '/Teamchat reserved': true,
    '/link in_the_way': true,
    '/loop in_the_way': true,
  })
  expect(server.tree()).toEqual({ '/fine.txt': 'fine', '/link': 'theirs', '/loop': null, '/loop/deep.txt': 'theirs' })
  expect(existsSync(join(root, 'deep.txt'))).toBe(false)
})

test('a folder deleted there that holds a link here stays, and is not brought back there', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'd/a.txt', 'a')
  write(root, 'other.txt', 'o')
  await sync()
  await symlink('a.txt', join(root, 'd/link'))
  server.remove('/d')
  const summary = await sync()
  expect(summary.skipped.map(({ path, code }) => `${path} ${code}`)).toEqual(['/d/link symlink', '/d kept'])
  expect(readTree(root)).toEqual({ '/d': null, '/d/link': '(other)', '/other.txt': 'o' })
  expect(server.tree()).toEqual({ '/other.txt': 'o' })
})

test('a file that gives way to a link is not deleted on the server', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'a.txt', 'a')
  write(root, 'd/b.txt', 'b')
  await sync()
  await rm(join(root, 'a.txt'))
  await rm(join(root, 'd'), { recursive: true })
  await symlink('/nowhere', join(root, 'a.txt'))
  await symlink('/nowhere', join(root, 'd'))
  await sync()
  expect(server.tree()).toEqual({ '/a.txt': 'a', '/d': null, '/d/b.txt': 'b' })
})

test('a name that is not UTF-8 is reported, and nothing beside it is deleted because of it', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'd/gone.txt', 'g')
  write(root, 'd/stays.txt', 's')
  await sync()
  await rm(join(root, 'd/gone.txt'))
  await writeFile(Buffer.concat([Buffer.from(join(root, 'd/')), Buffer.from([0xff, 0xfe])]), 'x')
  const summary = await sync()
  expect(summary.skipped.map(({ code }) => code)).toEqual(['not_utf8'])
  expect(server.tree()).toEqual({ '/d': null, '/d/gone.txt': 'g', '/d/stays.txt': 's' })
})

test('two spellings of one name: one is synchronised, the other reported, and both stay', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'caf\u00e9.txt', 'composed')
  write(root, 'cafe\u0301.txt', 'decomposed')
  const summary = await sync()
  expect(summary.skipped.map(({ code }) => code)).toEqual(['collision'])
  expect(server.files.size).toBe(1)
  expect(new Set(Object.values(readTree(root)))).toEqual(new Set(['composed', 'decomposed']))
})

test('a name keeps the spelling of the side that had it first', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'cafe\u0301/menu.txt', 'menu')
  server.put('/caf\u00e9/menu.txt', 'menu')
  server.put('/caf\u00e9/wine.txt', 'wine')
  write(root, 'cafe\u0301/beer.txt', 'beer')
  await sync()
  expect(server.tree()).toEqual({
    '/caf\u00e9': null,
    '/caf\u00e9/beer.txt': 'beer',
    '/caf\u00e9/menu.txt': 'menu',
    '/caf\u00e9/wine.txt': 'wine',
  })
  expect(Object.keys(readTree(root))).toEqual([
    '/cafe\u0301',
    '/cafe\u0301/beer.txt',
    '/cafe\u0301/menu.txt',
    '/cafe\u0301/wine.txt',
  ])
})

test('a folder that is synchronised by itself is left alone by the one around it', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'inner/a.txt', 'a')
  write(root, 'inner/.svc/root.json', '{}')
  write(root, 'b.txt', 'b')
  const summary = await sync()
  expect(summary.skipped).toMatchObject([{ path: '/inner', code: 'nested' }])
  expect(server.tree()).toEqual({ '/b.txt': 'b' })
})

test('the engine keeps its own folder out of the account, and ignores what the account has by that name', async () => {
  const { root, server, sync } = await makeBench()
  server.put('/.svc/root.json', '{"root_id":"evil"}')
  server.put('/.SVC/state.db', 'evil')
  const summary = await sync()
  expect(readTree(root)).toEqual({})
  expect(summary.skipped).toMatchObject([{ path: '/.SVC', code: 'reserved' }])
  expect([...server.files.keys()]).toEqual(['/.svc/root.json', '/.SVC/state.db'])
})

test('status tells what changed locally since the last run, and what is left alone, without the server and without a trace', async () => {
  const { root, server, sync, stateFolder } = await makeBench()
  for (const name of ['same', 'edited', 'gone', 'd/touched']) write(root, name, name)
  await symlink('same', join(root, 'link'))
  await sync()
  write(root, 'edited', 'other words')
  write(root, 'new/file', 'new')
  write(root, 'd/touched', 'd/touched')
  await rm(join(root, 'gone'))
  server.log.length = 0
  const before = readdirSync(join(root, '.svc'))

  const status = await readStatus({ path: root, stateFolder, clock: { now: () => NOW + 60_000 } })

  expect(status).toMatchObject({
    root,
    username: 'ada',
    running: false,
    agreed: { files: 4, folders: 1 },
    last_failure: null,
  })
  expect(status.last_run).toMatchObject({ at: NOW, uploaded: { files: 4 } })
  expect(status.pending).toEqual([
    { path: '/edited', change: 'changed' },
    { path: '/gone', change: 'deleted' },
    { path: '/new', change: 'new' },
    { path: '/new/file', change: 'new' },
  ])
  expect(status.left_out).toMatchObject([{ path: '/link', code: 'symlink' }])
  expect(server.log).toEqual([])
  expect(readdirSync(join(root, '.svc'))).toEqual(before)
})

test('two things that lose their place under one name in one run both end up in the trash', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'x', 'file')
  write(root, 'keep', 'k')
  await sync()
  server.remove('/x')
  server.put('/x/inside', 'first')
  await sync()
  server.put('/x/inside', 'second')
  await sync()
  const trash = readdirSync(join(root, '.svc', 'trash')).map((run) => readTree(join(root, '.svc', 'trash', run)))
  expect(new Set(trash.map((tree) => JSON.stringify(tree)))).toEqual(
    new Set([JSON.stringify({ '/x': 'file' }), JSON.stringify({ '/x': null, '/x/inside': 'first' })]),
  )
  expect(readTree(root)).toEqual({ '/keep': 'k', '/x': null, '/x/inside': 'second' })
})
