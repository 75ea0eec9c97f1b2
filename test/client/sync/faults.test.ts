import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fault } from '../../../src/contract/errors.ts'
import { Unreachable } from '../../../src/client/errors.ts'
import { NOW, makeBench, readTree, write, type Bench } from './bench.ts'
import { everything, type Mischief } from './fake-server.ts'

// What a server, a network, a disk and other programs can do to a run; nothing may be lost by it.

const json = (document: unknown, headers: Record<string, string> = {}) => ({
  status: 200,
  headers: { 'content-type': 'application/json', ...headers },
  body: bytes(JSON.stringify(document)),
})

async function* bytes(...texts: string[]) {
  await Promise.resolve()
  for (const text of texts) yield Buffer.from(text)
}

/** Does its mischief at the first request of an action only. */
const once = (action: string, mischief: Mischief): Mischief => {
  let done = false
  return (name, params, server) => {
    if (name !== action || done) return undefined
    done = true
    return mischief(name, params, server)
  }
}

const whenever =
  (action: string, mischief: Mischief): Mischief =>
  (name, params, server) =>
    name === action ? mischief(name, params, server) : undefined

async function settled(more: Record<string, string> = {}): Promise<Bench> {
  const bench = await makeBench()
  for (const [path, content] of Object.entries({ 'a.txt': 'a', 'd/b.txt': 'b', 'd/e/c.txt': 'c', ...more }))
    write(bench.root, path, content)
  await bench.sync()
  bench.server.log.length = 0
  return bench
}

const all = { '/a.txt': 'a', '/d': null, '/d/b.txt': 'b', '/d/e': null, '/d/e/c.txt': 'c' }

for (const [name, mischief] of [
  ['answers 500', () => Promise.reject(fault('internal'))],
  ['is in maintenance', () => Promise.reject(fault('maintenance'))],
  ['does not answer', () => Promise.reject(new Unreachable('gone'))],
  [
    'is replaced by a web page',
    () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: bytes('<html>') }),
  ],
  [
    'sends half of it',
    () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: bytes('{"ok":true,"files":[') }),
  ],
  ['sends something else', () => json({ ok: true })],
  ['says that nothing is changed, but not to that question', () => json({ ok: false, error: 'x' })],
  ['sends a list of something', () => json([1, 2])],
] as const) {
  test(`a listing that fails deletes nothing: the server ${name}`, async () => {
    const { root, server, sync } = await settled()
    server.put('/new.txt', 'there')
    server.mischief = whenever('manifest', mischief)
    await expect(sync()).rejects.toBeInstanceOf(Error)
    expect(readTree(root)).toEqual(all)
    expect(server.log.filter((line) => !line.startsWith('manifest'))).toEqual([])
    server.mischief = undefined
    await sync()
    expect(readTree(root)).toEqual({ ...all, '/new.txt': 'there' })
  })
}

test('hostile paths touch nothing outside, are reported, and stop every deletion', async () => {
  const { root, server, sync } = await settled()
  const sha256 = 'a'.repeat(64)
  const hostile = [
    '../evil',
    '/../evil',
    '/d/../../evil',
    'evil',
    '/d//evil',
    '/d/./evil',
    '/c:\\evil',
    '/nul\0',
    '/tab\tevil',
    '/',
    '',
    '/\ud800',
    `/${'x'.repeat(256)}`,
    `/${'y/'.repeat(64)}z`,
  ]
  const files = [
    ...hostile.map((path) => ({ path, size: 4, sha256, mtime: 1 })),
    { path: '/d', size: 1, sha256, mtime: 1 },
    { path: '/ok.txt', size: -1, sha256, mtime: 1 },
    { path: '/sha.txt', size: 1, sha256: 'zz', mtime: 1 },
    null,
    'x',
  ]
  // Everything of ours is missing: were the listing believed, all of it would have to go.
  server.mischief = whenever('manifest', () =>
    json(
      { ok: true, files, directories: ['/d', '/../up', 7], cursor: 99, epoch: 'epoch-1', server_id: 'server-1' },
      { etag: '"x"' },
    ),
  )
  const summary = await sync()
  expect(readTree(root)).toEqual(all)
  expect(readdirSync(join(root, '..')).includes('evil')).toBe(false)
  expect(new Set(summary.skipped.map(({ code }) => code))).toEqual(new Set(['bad_path', 'in_the_way']))
  expect(summary.skipped.length).toBeGreaterThan(hostile.length)
  expect(server.log.filter((line) => /^(delete|download)/.test(line))).toEqual([])
  server.mischief = undefined
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(server.tree()).toEqual(all)
})

test('a folder turned into a link is neither followed nor written through', async () => {
  const { root, server, sync } = await settled()
  const outside = join(root, '..', `outside-${process.pid}-${Date.now()}`)
  mkdirSync(outside)
  writeFileSync(join(outside, 'b.txt'), 'not ours')
  server.put('/d/b.txt', 'evil')
  server.put('/d/new.txt', 'evil')
  // The link appears after the scan, while the first file is on its way.
  server.mischief = once('download', () => {
    rmSync(join(root, 'd'), { recursive: true })
    symlinkSync(outside, join(root, 'd'))
  })
  await sync()
  expect(readdirSync(outside)).toEqual(['b.txt'])
  expect(readFileSync(join(outside, 'b.txt'), 'utf8')).toBe('not ours')
  expect(server.text('/d/e/c.txt')).toBe('c')
  rmSync(outside, { recursive: true })
})

test('a body with other content than announced never reaches its place', async () => {
  const { root, server, sync } = await settled()
  server.put('/a.txt', 'new words')
  server.put('/n.txt', 'new file')
  server.mischief = whenever('download', (_, { path }, { files }) => ({
    status: 200,
    headers: {},
    body: bytes(path === '/a.txt' ? 'NEW WORDS' : `${files.get(String(path))!.content.toString()} and more`),
  }))
  const summary = await sync()
  expect(readTree(root)).toEqual(all)
  expect(summary.skipped.map(({ path, code }) => `${path} ${code}`).sort()).toEqual([
    '/a.txt corrupt',
    '/n.txt corrupt',
  ])
  expect(readdirSync(join(root, '.svc', 'tmp'))).toEqual([])
  server.mischief = undefined
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(readTree(root)).toEqual({ ...all, '/a.txt': 'new words', '/n.txt': 'new file' })
})

test('a download that breaks off is begun again', async () => {
  const { root, server, sync, slept } = await settled()
  server.put('/a.txt', 'new words')
  server.mischief = once('download', () => ({
    status: 200,
    headers: {},
    body: (async function* () {
      yield Buffer.from('new ')
      await Promise.resolve()
      throw new Unreachable('The connection broke off.')
    })(),
  }))
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(readTree(root)).toEqual({ ...all, '/a.txt': 'new words' })
  expect(slept).toEqual([500])
})

test('a server that goes away in the middle ends the run, and the next one goes on from there', async () => {
  const { root, server, sync } = await settled()
  for (let at = 0; at < 40; at += 1) write(root, `many/${at}.txt`, `content ${at}`)
  let taken = 0
  server.mischief = whenever('upload', () => ((taken += 1) > 20 ? Promise.reject(new Unreachable('gone')) : undefined))
  await expect(sync()).rejects.toThrow('gone')
  expect(server.files.size).toBe(3 + 20)
  server.mischief = undefined
  server.log.length = 0
  expect(await sync()).toMatchObject({ in_sync: true, uploaded: { files: 20 } })
  expect(server.tree()).toEqual(readTree(root))
})

test('an upload whose answer got lost is not sent as a conflict', async () => {
  const { root, server, sync } = await settled()
  write(root, 'a.txt', 'edited')
  write(root, 'new.txt', 'new')
  const lost = new Set<string>()
  server.mischief = whenever('upload', (_, { path }) => {
    if (lost.has(String(path))) return undefined
    lost.add(String(path))
    // It is stored; only nobody hears of it.
    server.put(String(path), String(path) === '/a.txt' ? 'edited' : 'new', 5)
    return Promise.reject(new Unreachable('The connection broke off.'))
  })
  expect(await sync()).toMatchObject({ in_sync: true, conflicts: [] })
  expect(server.tree()).toEqual(readTree(root))
})

test('a file changed on the server after the listing is not overwritten: both versions are kept', async () => {
  const { root, server, sync } = await settled()
  write(root, 'a.txt', 'mine')
  server.mischief = once('upload', () => void server.put('/a.txt', 'theirs'))
  const summary = await sync()
  expect(summary.conflicts).toHaveLength(1)
  const both = { ...all, '/a.txt': 'theirs', [summary.conflicts[0]!.copy]: 'mine' }
  expect(readTree(root)).toEqual(both)
  expect(server.tree()).toEqual(both)
})

test('a file made on the server after the listing is not overwritten by a new one here', async () => {
  const { root, server, sync } = await settled()
  write(root, 'new.txt', 'mine')
  server.mischief = once('upload', () => void server.put('/new.txt', 'theirs'))
  const { conflicts } = await sync()
  expect(readTree(root)).toEqual({ ...all, '/new.txt': 'theirs', [conflicts[0]!.copy]: 'mine' })
})

test('a file edited on the server after the listing is not deleted', async () => {
  const { root, server, sync } = await settled()
  rmSync(join(root, 'a.txt'))
  server.mischief = once('delete', () => void server.put('/a.txt', 'edited there'))
  await sync()
  expect(server.text('/a.txt')).toBe('edited there')
  expect(readTree(root)).toEqual({ ...all, '/a.txt': 'edited there' })
})

test('a folder that gets something new on the server after the listing is not deleted', async () => {
  const { root, server, sync } = await settled()
  rmSync(join(root, 'd'), { recursive: true })
  server.mischief = (action, params) =>
    action === 'delete' && params['path'] === '/d/e' ? server.put('/d/e/new.txt', 'new') : undefined
  await sync()
  expect(server.tree()).toEqual({ '/a.txt': 'a', '/d': null, '/d/e': null, '/d/e/new.txt': 'new' })
  expect(readTree(root)).toEqual(server.tree())
})

test('a file that disappears on the server before it was fetched is not missed', async () => {
  const { root, server, sync } = await settled()
  server.put('/x.txt', 'x')
  server.mischief = once('download', () => server.remove('/x.txt'))
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(readTree(root)).toEqual(all)
})

test('an edit here while the new version is on its way is kept', async () => {
  const { root, server, sync } = await settled()
  server.put('/a.txt', 'theirs')
  server.mischief = once('download', () => write(root, 'a.txt', 'mine, at the last moment'))
  const { conflicts } = await sync()
  const both = { ...all, '/a.txt': 'theirs', [conflicts[0]!.copy]: 'mine, at the last moment' }
  expect(readTree(root)).toEqual(both)
  expect(server.tree()).toEqual(both)
})

test('a new file here while one of that name is on its way is kept', async () => {
  const { root, server, sync } = await settled()
  server.put('/n.txt', 'theirs')
  server.mischief = once('download', () => write(root, 'n.txt', 'mine'))
  const { conflicts } = await sync()
  expect(readTree(root)).toEqual({ ...all, '/n.txt': 'theirs', [conflicts[0]!.copy]: 'mine' })
})

test('an edit here after the server deleted the file, and after the scan, is not deleted', async () => {
  const { root, server, sync, events } = await settled()
  server.remove('/a.txt')
  server.put('/n.txt', 'n')
  server.mischief = once('download', () => write(root, 'a.txt', 'mine'))
  await sync()
  expect(server.text('/a.txt')).toBe('mine')
  expect(readTree(root)).toEqual({ ...all, '/a.txt': 'mine', '/n.txt': 'n' })

  // The deletion that did not happen is forgotten: the next one is the user's.
  rmSync(join(root, 'a.txt'))
  expect(await sync()).toMatchObject({ removed_there: 1, in_sync: true })
  expect(server.text('/a.txt')).toBeUndefined()
  expect(events).not.toContainEqual(expect.objectContaining({ event: 'notice', code: 'recovered' }))
})

test('a file that is deleted here and comes back before the server is told stays on both sides', async () => {
  const { root, server, sync } = await settled()
  rmSync(join(root, 'a.txt'))
  server.put('/n.txt', 'n')
  server.mischief = once('download', () => write(root, 'a.txt', 'again'))
  await sync()
  expect(server.text('/a.txt')).toBe('again')
  expect(readTree(root)).toEqual({ ...all, '/a.txt': 'again', '/n.txt': 'n' })
})

test('a file that grows while it is sent is sent whole in the end', async () => {
  const { root, server, sync } = await settled()
  const big = 'x'.repeat(2_500_000)
  write(root, 'log.txt', big)
  server.mischief = once('upload', () => write(root, 'log.txt', `${big}more`))
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(server.text('/log.txt')).toBe(`${big}more`)
})

test('a file that never stands still is reported as busy, and everything else goes through', async () => {
  const { root, server, sync } = await settled()
  write(root, 'log.txt', 'line 0')
  write(root, 'calm.txt', 'calm')
  let line = 0
  server.mischief = whenever('upload', (_, { path }) => {
    if (path !== '/log.txt') return undefined
    write(root, 'log.txt', `line ${(line += 1)}`)
    return Promise.reject(fault('checksum_mismatch'))
  })
  const summary = await sync()
  expect(summary.skipped).toMatchObject([{ path: '/log.txt', code: 'busy' }])
  expect(server.text('/calm.txt')).toBe('calm')
  expect(server.text('/log.txt')).toBeUndefined()
})

test('a full quota stops what does not fit, and nothing else, deletions included', async () => {
  const { root, server, sync } = await settled()
  write(root, 'huge.bin', 'huge')
  write(root, 'small.txt', 'small')
  rmSync(join(root, 'a.txt'))
  server.mischief = whenever('upload', (_, { path }) =>
    path === '/huge.bin' ? Promise.reject(fault('quota_exceeded')) : undefined,
  )
  const summary = await sync()
  expect(summary.skipped).toMatchObject([{ path: '/huge.bin', code: 'quota' }])
  expect(Object.keys(server.tree())).toEqual(['/d', '/d/b.txt', '/d/e', '/d/e/c.txt', '/small.txt'])
})

test("when the server's disk is full nothing is sent and nothing deleted, but files still come", async () => {
  const { root, server, sync } = await settled()
  write(root, 'new/x.txt', 'x')
  rmSync(join(root, 'a.txt'))
  server.remove('/d/b.txt')
  server.put('/n.txt', 'n')
  server.mischief = whenever('upload', () => Promise.reject(fault('disk_full')))
  const summary = await sync()
  expect(summary.skipped.map(({ code }) => code)).toEqual(['no_space'])
  expect(server.text('/a.txt')).toBe('a')
  expect(readTree(root)).toMatchObject({ '/n.txt': 'n', '/d/b.txt': 'b' })
})

test('a name that the server refuses after all is reported', async () => {
  const { root, server, sync } = await settled()
  write(root, 'odd.txt', 'x')
  write(root, 'fine.txt', 'x')
  server.mischief = whenever('upload', (_, { path }) =>
    path === '/odd.txt' ? Promise.reject(fault('bad_path')) : undefined,
  )
  expect((await sync()).skipped).toMatchObject([{ path: '/odd.txt', code: 'refused' }])
  expect(server.text('/fine.txt')).toBe('x')
})

test('a server that stored something else than was sent is not believed', async () => {
  const { root, server, sync } = await settled()
  write(root, 'x.txt', 'x')
  server.mischief = whenever('upload', () => ({ ok: true, sha256: 'f'.repeat(64), size: 1, mtime: 1 }))
  expect((await sync()).skipped).toMatchObject([{ path: '/x.txt', code: 'corrupt' }])
  server.mischief = undefined
  expect(await sync()).toMatchObject({ in_sync: true, uploaded: { files: 1 } })
})

test('a token that is not taken any more ends the run', async () => {
  const { root, server, sync } = await settled()
  write(root, 'x.txt', 'x')
  server.mischief = whenever('upload', () => Promise.reject(fault('unauthorized')))
  await expect(sync()).rejects.toMatchObject({ code: 'unauthorized' })
  expect(readTree(root)).toEqual({ ...all, '/x.txt': 'x' })
})

test('an interrupted run leaves whole files only, and the next one finishes', async () => {
  const { root, server, sync } = await settled()
  for (let at = 0; at < 30; at += 1) server.put(`/many/${at}.txt`, `content ${at}`)
  const controller = new AbortController()
  let fetched = 0
  server.mischief = whenever('download', () => {
    if ((fetched += 1) === 12) controller.abort(new Error('Interrupted.'))
  })
  await expect(sync({ signal: controller.signal })).rejects.toThrow('Interrupted.')
  const arrived = Object.entries(readTree(root)).filter(([path]) => path.startsWith('/many/'))
  expect(arrived).toEqual(arrived.map(([path]) => [path, server.text(path)]))
  expect(readdirSync(join(root, '.svc'))).not.toContain('lock')
  server.mischief = undefined
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(readTree(root)).toEqual(server.tree())
})

test('429 is a pause of that kind of request, as long as the server says, and not a failure', async () => {
  const { root, server, sync, slept } = await settled()
  write(root, 'x.txt', 'x')
  server.put('/n.txt', 'n')
  server.mischief = once('upload', () => Promise.reject(fault('rate_limited', { retryAfter: 17 })))
  expect(await sync()).toMatchObject({ in_sync: true, uploaded: { files: 1 }, downloaded: { files: 1 } })
  expect(slept).toEqual([17_150])
})

test("the server's limits are kept without running into them, also by the next run", async () => {
  const { root, server, sync, slept, time } = await makeBench()
  server.limits = { sync_upload: { max: 10, per: 60 }, sync_manifest: { max: 10, per: 60 } }
  const sent: number[] = []
  server.mischief = whenever('upload', () => {
    const inWindow = sent.filter((at) => at > time.now - 60_000).length
    if (inWindow >= 10) throw fault('rate_limited', { retryAfter: 60 })
    sent.push(time.now)
  })
  for (let at = 0; at < 25; at += 1) write(root, `${at}.txt`, `${at}`)
  expect(await sync()).toMatchObject({ uploaded: { files: 25 }, in_sync: true })
  expect(server.requests('upload')).toBe(25)
  expect(slept).toEqual([60_150, 60_150])
  expect(time.now - NOW).toBe(120_300)

  for (let at = 0; at < 6; at += 1) write(root, `more-${at}.txt`, `${at}`)
  expect(await sync()).toMatchObject({ uploaded: { files: 6 } })
  expect(server.requests('upload')).toBe(31)
  expect(slept).toEqual([60_150, 60_150, 60_150])
})

test('a modification time that nobody can have is not taken over', async () => {
  // JSON has no NaN: it comes as null, or as a text.
  const impossible = [0, -5, Number.NaN, 'NaN', '', {}, 1e300, 9_400_000_000_000, 2 ** 53]
  const local = { 'old.txt': -5_000, 'late.txt': 9_400_000_000_000, 'near.txt': 0.4 }
  for (const feed of [false, true]) {
    const { root, server, sync } = await makeBench()
    if (feed) server.features = { ...everything, files_feed: true }
    for (const [at, mtime] of impossible.entries()) server.put(`/${at}.txt`, `${at}`, mtime as number)
    for (const [name, mtime] of Object.entries(local)) {
      write(root, name, name)
      utimesSync(join(root, name), mtime, mtime)
    }
    expect(await sync()).toMatchObject({ in_sync: true, downloaded: { files: impossible.length } })
    for (const at of impossible.keys()) {
      expect(readFileSync(join(root, `${at}.txt`), 'utf8')).toBe(`${at}`)
      expect(Math.abs(Date.now() - statSync(join(root, `${at}.txt`)).mtimeMs)).toBeLessThan(3_600_000)
    }
    for (const name of Object.keys(local)) expect(server.text(`/${name}`)).toBe(name)
    server.put('/1.txt', 'changed', 'never' as never)
    expect(await sync()).toMatchObject({ in_sync: true, uploaded: { files: 0 }, downloaded: { files: 1 } })
    expect(await sync()).toMatchObject({ in_sync: true, uploaded: { files: 0 }, downloaded: { files: 0 } })
  }
})

test('a file that went behind a link after the scan is not deleted on the server', async () => {
  const { root, server, sync } = await settled()
  rmSync(join(root, 'd/b.txt'))
  server.put('/n.txt', 'n')
  server.mischief = once('download', () => {
    rmSync(join(root, 'd'), { recursive: true })
    symlinkSync('/nowhere', join(root, 'd'))
  })
  await sync()
  expect(server.tree()).toEqual({ ...all, '/n.txt': 'n' })
})

test('a folder that goes away while a run is at work loses nothing on the server', async () => {
  const { root, server, sync } = await settled()
  rmSync(join(root, 'a.txt'))
  server.put('/n.txt', 'n')
  server.mischief = once('download', () => renameSync(root, `${root}-unmounted`))
  await expect(sync()).rejects.toMatchObject({ exitCode: 8, reason: 'gone' })
  rmSync(root, { recursive: true, force: true })
  rmSync(`${root}-unmounted`, { recursive: true })
  expect(server.tree()).toEqual({ ...all, '/n.txt': 'n' })
})

test('links and special files are reported once, and then left alone', async () => {
  const { root, server, sync } = await makeBench()
  write(root, 'a.txt', 'a')
  symlinkSync('/nowhere', join(root, 'link'))
  const link = { path: '/link', code: 'symlink' }
  expect(await sync({ dryRun: true })).toMatchObject({ skipped: [link], left_out: [] })
  expect(await sync()).toMatchObject({ skipped: [link], left_out: [], in_sync: false })
  expect(await sync()).toMatchObject({ skipped: [], left_out: [link], in_sync: true })
  symlinkSync('/nowhere', join(root, 'second'))
  server.mischief = () => Promise.reject(fault('maintenance'))
  await expect(sync()).rejects.toThrow()
  server.mischief = undefined
  expect(await sync()).toMatchObject({ skipped: [{ path: '/second' }], left_out: [link] })
  rmSync(join(root, 'link'))
  expect(await sync()).toMatchObject({ skipped: [], left_out: [{ path: '/second' }] })
  symlinkSync('/nowhere', join(root, 'link'))
  expect(await sync()).toMatchObject({ skipped: [link] })
})

test('a run is repeated for as long as it should be, also when the clock is corrected', async () => {
  const { root, server, sync, time } = await makeBench()
  write(root, 'a.txt', 'a')
  server.mischief = whenever('upload', () => {
    if (time.now > NOW + 86_400_000) return undefined
    time.now += 2 * 86_400_000
    return Promise.reject(fault('maintenance'))
  })
  expect(await sync({ retry: 60_000 })).toMatchObject({ uploaded: { files: 1 }, in_sync: true })
})

test('a run is repeated while the server is away, sums up everything, and says what it did when it gives up', async () => {
  const { root, server, sync, events, slept } = await makeBench()
  const names = ['a.txt', 'b.txt', 'c.txt']
  for (const name of names) write(root, name, name)
  let [uploads, refusals] = [0, 0]
  server.mischief = whenever('upload', () => {
    uploads += 1
    if (uploads === 1 || refusals >= 4) return undefined
    refusals += 1
    return Promise.reject(fault('maintenance', { text: 'Nothing answers.' }))
  })
  expect(await sync({ retry: 60_000 })).toMatchObject({ uploaded: { files: 3 }, in_sync: true })
  expect(refusals).toBe(4)
  expect(slept.length).toBeGreaterThan(0)
  expect(events.find(({ event }) => event === 'retrying')).toMatchObject({
    message: 'Nothing answers.',
    until: NOW + 60_000,
  })
  expect(server.tree()).toEqual(Object.fromEntries(names.map((name) => [`/${name}`, name])))

  for (const name of names) write(root, `second-${name}`, name)
  ;[uploads, refusals] = [0, -1_000]
  await expect(sync({ retry: 10_000 })).rejects.toThrow('Nothing answers.')
  expect(events.at(-1)).toMatchObject({ event: 'stopped', uploaded: { files: 1 } })
})
