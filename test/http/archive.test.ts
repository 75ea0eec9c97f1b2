import { once } from 'node:events'
import { readdir, readlink, rm } from 'node:fs/promises'
import { get } from 'node:http'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { ARCHIVE } from '../../src/contract/limits.ts'
import { INLINE_MAX } from '../../src/storage/contents/contents.ts'
import type { Account } from '../support/account.ts'
import { sessionOf } from '../support/browser.ts'
import { disable } from '../support/chat.ts'
import { bytesOf, filesBelow, sha256Of } from '../support/contents.ts'
import { explores } from '../support/explores.ts'
import { leaveRoom, makeRoom } from '../support/rooms.ts'
import { serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'
import { unzipped } from '../support/zip.ts'

const fs = filesystem.actions

const server = await serverOfFile()

const outcome = async (reply: ReturnType<Account['call']>) => {
  const { status, json } = await reply
  return [status, json['code'] ?? 'ok']
}

/** The name under which a browser saves an answer. */
const savedAs = (headers: Headers): string => decodeURIComponent(headers.get('content-disposition')!.split("''")[1]!)

/** What an archive holds: hashes of contents by name, empty for folders. */
async function held(account: Account, params: { path: string; ids?: string }): Promise<Record<string, string>> {
  const { status, headers, bytes } = await account.call(fs.archive, params)
  expect([status, headers.get('content-length')]).toEqual([200, String(bytes.length)])
  const entries = await unzipped(bytes)
  return Object.fromEntries(entries.map(({ name, sha256 }) => [name, name.endsWith('/') ? '' : sha256]))
}

const idsOf = async (account: Account, path: string, ...names: string[]): Promise<string> => {
  const { items } = await account.ask(fs.list, { path, ids: true })
  return names.map((name) => items.find((item) => item.name === name)!.id).join('.')
}

describe('an archive of a folder', () => {
  const contents = {
    'a.txt': Buffer.from('a'),
    'empty.bin': Buffer.alloc(0),
    'Grüße an „Bob“ 🌳.txt': Buffer.from('grün'),
    'it\'s "quoted".txt': Buffer.from('quoted'),
    'con?|<>*:.': Buffer.from('not for Windows'),
    'below/and/deeper/large.bin': bytesOf(INLINE_MAX * 5 + 17),
    'below/whole.bin': bytesOf(INLINE_MAX),
  }

  async function withTree(): Promise<Account> {
    const ada = await server.account()
    for (const [name, content] of Object.entries(contents))
      await ada.put(`/Ünder "1"/${name}`, content, { mtime: 1_700_000_000 })
    await ada.ask(fs.mkdir, { path: '/Ünder "1"/nothing in here' })
    await ada.put('/elsewhere.txt', 'x')
    return ada
  }

  test('holds everything in it, byte for byte, empty folders too, and changes nothing', async () => {
    const ada = await withTree()
    const before = await commitsSeenBy(server.database)
    const { status, headers, bytes } = await ada.call(fs.archive, { path: '/Ünder "1"' })
    expect([status, savedAs(headers)]).toEqual([200, 'Ünder "1".zip'])
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="_nder _1_\.zip"; filename\*=UTF-8''/)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/zip',
      'content-length': String(bytes.length),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, no-store',
    })
    const entries = await unzipped(bytes)
    const folders = ['', 'below/', 'below/and/', 'below/and/deeper/', 'nothing in here/']
    expect(Object.fromEntries(entries.map(({ name, sha256, mtime }) => [name, [sha256, mtime]]))).toEqual({
      ...Object.fromEntries(folders.map((name) => [`Ünder "1"/${name}`, [sha256Of(''), server.clock.now() / 1_000]])),
      ...Object.fromEntries(
        Object.entries(contents).map(([name, content]) => [`Ünder "1"/${name}`, [sha256Of(content), 1_700_000_000]]),
      ),
    })
    const seen = new Set<string>()
    for (const { name } of entries) {
      const above = name.slice(0, name.replace(/\/$/, '').lastIndexOf('/') + 1)
      expect([name, above === '' || seen.has(above)]).toEqual([name, true])
      seen.add(name)
    }
    expect(await commitsSeenBy(server.database)).toBe(before)
  })

  test('is for a session too, and HEAD tells what GET would', async () => {
    const ada = await withTree()
    const query = { action: 'archive', path: '/Ünder "1"' }
    const headers = await sessionOf(server, ada.id)
    const whole = await server.send(filesystem.path, { query, headers })
    const head = await server.send(filesystem.path, { query, headers, method: 'HEAD' })
    expect([whole.status, head.status, head.bytes.length]).toEqual([200, 200, 0])
    for (const name of ['content-length', 'content-disposition', 'content-type'])
      expect([name, head.headers.get(name)]).toEqual([name, whole.headers.get(name)])
    expect((await server.send(filesystem.path, { query })).status).toBe(401)
  })

  test('of the root holds the own files and those of the rooms, below nothing', async () => {
    const ada = await server.account()
    await makeRoom(server, 'Engines', ada)
    await ada.put('/b/c', 'c')
    await ada.ask(fs.write, { path: '/Teamchat/Engines/plan', content: 'p' })
    expect(await held(ada, { path: '/' })).toEqual({
      'Teamchat/': '',
      'Teamchat/Engines/': '',
      'Teamchat/Engines/plan': sha256Of('p'),
      'b/': '',
      'b/c': sha256Of('c'),
    })
    expect(savedAs((await ada.call(fs.archive, { path: '/' }, { method: 'HEAD' })).headers)).toBe('Files.zip')
  })

  test('is of one moment: what changes while it is sent is in it as it was', async () => {
    const ada = await server.account()
    const content = bytesOf(8 << 20)
    await ada.put('/d/a.bin', content)
    await ada.put('/d/b.bin', content.subarray(1))
    const url = `${server.url}${filesystem.path}?action=archive&path=/d`
    const begun = await fetch(url, { headers: { authorization: `Bearer ${ada.token}` } })
    await ada.put('/d/b.bin', 'other')
    await ada.put('/d/c.bin', 'more')
    await ada.ask(fs.delete, { path: '/d/a.bin' })
    const entries = await unzipped(Buffer.from(await begun.arrayBuffer()))
    expect(entries.map(({ name, sha256 }) => [name, sha256])).toEqual([
      ['d/', sha256Of('')],
      ['d/a.bin', sha256Of(content)],
      ['d/b.bin', sha256Of(content.subarray(1))],
    ])
  })
})

describe('an archive of chosen items', () => {
  test('holds them and what is below them, and nothing else of their folder', async () => {
    const ada = await server.account()
    for (const name of ['a', 'b', 'c/d', 'c/e/f', 'g/h']) await ada.put(`/Letters/${name}`, name)
    const ids = await idsOf(ada, '/Letters', 'c', 'a')
    expect(await held(ada, { path: '/Letters', ids })).toEqual({
      a: sha256Of('a'),
      'c/': '',
      'c/d': sha256Of('c/d'),
      'c/e/': '',
      'c/e/f': sha256Of('c/e/f'),
    })
    const named = async (path: string, chosen: string) =>
      savedAs((await ada.call(fs.archive, { path, ids: chosen }, { method: 'HEAD' })).headers)
    expect(await named('/Letters', ids)).toBe('Letters (2 items).zip')
    expect(await named('/Letters', ids.split('.')[0]!)).toBe('Letters (1 item).zip')
    expect(await named('/', await idsOf(ada, '/', 'Letters', 'Teamchat'))).toBe('Files (2 items).zip')
    await ada.ask(fs.move, { from: '/Letters/a', to: '/Letters/renamed' })
    expect(Object.keys(await held(ada, { path: '/Letters', ids }))).toContain('renamed')
  })

  test('takes as many as an address can name, and tells when they are too many', async () => {
    const ada = await server.account()
    await ada.put('/many/0', 'x')
    const { id: folder } = (await ada.ask(fs.list, { path: '/', ids: true })).items.find(({ name }) => name === 'many')!
    await fill(ada, folder!, 1_100)
    const { items } = await ada.ask(fs.list, { path: '/many', ids: true })
    const ids = items.map(({ id }) => id)
    expect(Object.keys(await held(ada, { path: '/many', ids: ids.slice(0, 1_000).join('.') }))).toHaveLength(1_000)
    const refused = await ada.call(fs.archive, { path: '/many', ids: ids.slice(0, 1_001).join('.') })
    expect([refused.status, refused.json]).toMatchObject([
      400,
      { code: 'too_many_operations', error: expect.stringContaining('At most 1000 items') as string },
    ])
  })

  test('lets no name look like a drive, and no two be the same', async () => {
    const ada = await server.account()
    const names = ['C:evil', 'C_evil', 'C__evil', 'd:', 'n:o']
    for (const name of names) await ada.put(`/${name}`, name)
    const found = await held(ada, { path: '/', ids: await idsOf(ada, '/', ...names) })
    expect(Object.keys(found).filter((name) => /^[A-Za-z]:/.test(name))).toEqual([])
    expect(new Set(Object.values(found))).toEqual(new Set(names.map(sha256Of)))
  })

  test('is refused when one of them is not in the folder, and for lists that make no sense', async () => {
    const ada = await server.account()
    const bob = await server.account()
    await ada.put('/a/b', 'x')
    await bob.put('/secret', 'x')
    const [mine, theirs] = [await idsOf(ada, '/', 'a'), await idsOf(bob, '/', 'secret')]
    const below = await idsOf(ada, '/a', 'b')
    for (const ids of [theirs, `${mine}.${theirs}`, below, '999999999999999'])
      expect([ids, ...(await outcome(ada.call(fs.archive, { path: '/', ids })))]).toEqual([ids, 404, 'not_found'])
    for (const ids of ['', '.', `${mine}.`, `${mine},${mine}`, '-1', '1e3', '../..', '1'.repeat(16)])
      expect([ids, ...(await outcome(ada.call(fs.archive, { path: '/', ids })))]).toEqual([ids, 400, 'bad_request'])
    expect(Object.keys(await held(ada, { path: '/', ids: `${mine}.${mine}` }))).toEqual(['a/', 'a/b'])
  })
})

describe('an archive of room files', () => {
  test('is for members, of one room, of some or of all', async () => {
    const [ada, bob, eve] = [await server.account(), await server.account(), await server.account()]
    const room = await makeRoom(server, 'Engines', ada, bob)
    await makeRoom(server, 'Quiet', bob)
    await makeRoom(server, 'Elsewhere', eve)
    await ada.ask(fs.write, { path: '/Teamchat/Engines/plans/one.txt', content: 'one' })
    await eve.ask(fs.write, { path: '/Teamchat/Elsewhere/secret', content: 'x' })
    const plans = { 'plans/': '', 'plans/one.txt': sha256Of('one') }
    const below = (prefix: string) =>
      Object.fromEntries(Object.entries({ '': '', ...plans }).map(([name, hash]) => [prefix + name, hash]))
    expect(await held(bob, { path: '/Teamchat/Engines' })).toEqual(below('Engines/'))
    expect(await held(bob, { path: '/Teamchat/Engines/plans' })).toEqual(plans)
    expect(await held(bob, { path: '/Teamchat' })).toEqual({
      'Teamchat/': '',
      ...below('Teamchat/Engines/'),
      'Teamchat/Quiet/': '',
    })
    const ids = await idsOf(bob, '/Teamchat', 'Engines', 'Quiet')
    expect(await held(bob, { path: '/Teamchat', ids })).toEqual({ ...below('Engines/'), 'Quiet/': '' })
    const inside = await idsOf(bob, '/Teamchat/Engines', 'plans')
    expect(await held(bob, { path: '/Teamchat/Engines', ids: inside })).toEqual(plans)
    expect(await held(bob, { path: '/Teamchat/Quiet' })).toEqual({ 'Quiet/': '' })

    for (const params of [
      { path: '/Teamchat/Engines' },
      { path: '/Teamchat/Engines/plans' },
      { path: '/Teamchat', ids },
      { path: '/Teamchat', ids: String(room) },
      { path: '/Teamchat/Elsewhere', ids: inside },
      { path: '/', ids: inside },
    ])
      expect(await outcome(eve.call(fs.archive, params))).toEqual([404, 'not_found'])
    expect(Object.keys(await held(eve, { path: '/' }))).toEqual([
      'Teamchat/',
      'Teamchat/Elsewhere/',
      'Teamchat/Elsewhere/secret',
    ])
    await leaveRoom(server, room, bob)
    expect(await outcome(bob.call(fs.archive, { path: '/Teamchat/Engines' }))).toEqual([404, 'not_found'])
    expect(Object.keys(await held(bob, { path: '/Teamchat' }))).toEqual(['Teamchat/', 'Teamchat/Quiet/'])
  })
})

/** Puts empty folders into a folder, straight in the database. */
const fill = (account: Account, folder: number, count: number): Promise<unknown> =>
  server.database.write('instance', (tx) =>
    sql`insert into nodes (user_id, parent_id, name, name_key, type, size, mtime, version, created_at, updated_at)
      with recursive n (i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)})
      select ${sql.lit(account.id)}, ${sql.lit(folder)}, 'f' || i, 'f' || i, 'directory', 0, 0, 1, 0, 0 from n`.execute(
      tx.q,
    ),
  )

test('an archive is refused for what is no folder, for paths that are none, and for the files of others', async () => {
  const [ada, bob] = [await server.account(), await server.account()]
  await ada.put('/secret/a', 'x')
  await bob.put('/file', 'x')
  for (const path of ['/secret', '/none', '/file', '/file/below', '/Teamchat/none', '/Teamchat/none/below'])
    expect([path, ...(await outcome(bob.call(fs.archive, { path })))]).toEqual([path, 404, 'not_found'])
  for (const path of ['secret', '/a/../b', '/a//b', '/a\\b', '/.', '//'])
    expect([path, ...(await outcome(bob.call(fs.archive, { path })))]).toEqual([path, 400, 'bad_path'])
  await disable(server, bob)
  expect(await outcome(bob.call(fs.archive, { path: '/' }))).toEqual([401, 'unauthorized'])
})

test.runIf(explores)('an archive holds a hundred thousand files and folders and no more', async () => {
  const ada = await server.account()
  await ada.ask(fs.mkdir, { path: '/many' })
  const { id } = (await ada.ask(fs.list, { path: '/', ids: true })).items.find(({ name }) => name === 'many')!
  await fill(ada, id!, ARCHIVE.max_entries - 1)
  expect((await ada.call(fs.archive, { path: '/many' }, { method: 'HEAD' })).status).toBe(200)
  await ada.put('/many/one more', 'x')
  const { status, json } = await ada.call(fs.archive, { path: '/many' })
  expect([status, json]).toMatchObject([
    400,
    { code: 'too_many_operations', error: 'An archive may have at most 100000 files and folders.' },
  ])
})

test('archives of an account are packed one after the other, and no more wait than can', async () => {
  const ada = await server.account()
  await ada.put('/d/a.txt', 'a')
  const other = await server.account()
  await other.put('/d/a.txt', 'a')
  const { desktop } = server.local.domain.files
  const packed = await Promise.all(
    Array.from({ length: 14 }, () =>
      desktop.pack(ada.id, '/d').then(
        () => 'ok',
        (error: { code: string }) => error.code,
      ),
    ),
  )
  expect(packed.filter((code) => code === 'busy')).toHaveLength(5)
  expect((await other.call(fs.archive, { path: '/d' })).status).toBe(200)
})

describe('an archive that cannot be sent to its end', () => {
  test.each(['a.bin', 'b.bin', 'c.bin'])('because %s is missing in the store breaks off', async (missing) => {
    const ada = await server.account()
    for (const [seed, name] of ['a.bin', 'b.bin', 'c.bin'].entries())
      await ada.put(`/d/${name}`, bytesOf(INLINE_MAX * 20, seed + ada.id * 10))
    const { sha256 } = (await ada.manifest()).files.find(({ path }) => path === `/d/${missing}`)!
    const blobs = join(server.dataDir, 'blobs')
    const blob = (await filesBelow(blobs)).find((path) => path.endsWith(sha256))!
    await rm(join(blobs, blob))
    await expect(ada.call(fs.archive, { path: '/d' })).rejects.toThrow()
    expect((await ada.call(fs.quota)).status).toBe(200)
  })

  test.each([1, 3])('because small content %d is missing breaks off too', async (missing) => {
    const ada = await server.account()
    for (const name of [1, 2, 3]) await ada.put(`/d/${name}`, `content ${name} of ${ada.id}`)
    const sha256 = sha256Of(`content ${missing} of ${ada.id}`)
    await server.database.write('instance', (tx) =>
      tx.q.updateTable('contents').set({ data: null }).where('sha256', '=', sha256).execute(),
    )
    const saved = await ada.call(fs.archive, { path: '/d' }).then(
      ({ status, headers, bytes }) => [status, headers.get('content-disposition'), bytes.toString('latin1', 0, 2)],
      () => 'broken off',
    )
    expect(saved).toBe('broken off')
    expect((await ada.call(fs.quota)).status).toBe(200)
  })

  test('because its client went away lets go of what it was reading', async () => {
    const ada = await server.account()
    await ada.put('/d/a.bin', Buffer.alloc(64 << 20, 7))
    const { sha256 } = (await ada.manifest()).files[0]!
    const opened = async () => {
      const links = await Promise.all(
        (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
      )
      return links.filter((path) => path.includes(sha256)).length
    }
    const headers = { authorization: `Bearer ${ada.token}` }
    const request = get(`${server.url}${filesystem.path}?action=archive&path=/d`, { headers })
    // Nobody reads on: the server waits in the middle of the content.
    const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream & { pause(): void }]
    response.pause()
    await expect.poll(() => opened()).toBe(1)
    request.on('error', () => undefined).destroy()
    await expect.poll(() => opened()).toBe(0)
    expect((await ada.call(fs.archive, { path: '/d' }, { method: 'HEAD' })).status).toBe(200)
  })
})
