import { describe, expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { trash } from '../../src/contract/trash.ts'
import type { Account } from '../support/account.ts'
import { bytesOf, sha256Of } from '../support/contents.ts'
import { mirrorOf } from '../support/mirror.ts'
import { serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const fs = filesystem.actions

const server = await serverOfFile()

const outcome = async (reply: ReturnType<Account['call']>) => {
  const { status, json } = await reply
  return [status, json['code'] ?? 'ok']
}

const form = (content: string | Uint8Array<ArrayBuffer>, filename: string) => {
  const data = new FormData()
  data.append('file', new Blob([content]), filename)
  return data
}

/** A multipart body written by hand: what no browser would send. */
const rawForm = (disposition: string, content = 'x') => ({
  headers: { 'content-type': 'multipart/form-data; boundary=b' },
  body: Buffer.from(`--b\r\n${disposition}\r\n\r\n${content}\r\n--b--\r\n`, 'utf8'),
})

const names = async (account: Account, path = '/') =>
  (await account.ask(fs.list, { path })).items.map(({ name }) => name)

describe('list', () => {
  test('shows folders first, then files by name, and the chat’s folder always', async () => {
    const ada = await server.account()
    await ada.put('/b.html', 'bb', { mtime: 5 })
    await ada.put('/zoo/x', 'x')
    expect((await ada.ask(fs.list, {})).items).toEqual([
      { name: 'Teamchat', type: 'directory', modified: '2026-11-21T12:00:00.000Z' },
      { name: 'zoo', type: 'directory', modified: '2026-11-21T12:00:00.000Z' },
      { name: 'b.html', type: 'file', size: 2, modified: '1970-01-01T00:00:05.000Z', mime: 'text/html' },
    ])
    expect(await names(ada, '/zoo')).toEqual(['x'])
    expect(await outcome(ada.call(fs.list, { path: '/b.html' }))).toEqual([404, 'not_found'])
    expect(await outcome(ada.call(fs.list, { path: '/none' }))).toEqual([404, 'not_found'])
    expect(await outcome(ada.call(fs.list, { path: 'zoo' }))).toEqual([400, 'bad_path'])
  })
})

describe('read and write', () => {
  test.each(['', 'plain', 'grün 🌳 \r\n\t', '\ufeffwith a mark', 'e\u0301'])('keep the text %j', async (content) => {
    const ada = await server.account()
    const path = '/new/t.txt'
    const sha256 = sha256Of(Buffer.from(content))
    expect(await ada.ask(fs.write, { path, content })).toEqual({ ok: true, path, sha256 })
    expect(await ada.ask(fs.read, { path })).toEqual({ ok: true, content, path, sha256 })
    await mirrorOf(ada).follow()
  })

  test('write only over what is expected to be there', async () => {
    const ada = await server.account()
    const path = '/plan.txt'
    const refused = [412, 'precondition_failed']
    const write = (terms: object) => outcome(ada.call(fs.write, { path, content: 'mine', ...terms }))
    const { sha256: if_sha256 } = await ada.ask(fs.write, { path, content: 'theirs' })
    expect(await write({ if_absent: true })).toEqual(refused)
    expect(await write({ if_sha256: sha256Of(Buffer.from('before')) })).toEqual(refused)
    expect(
      await outcome(ada.call(fs.upload, { path: '/', if_absent: true }, { body: form('mine', 'plan.txt') })),
    ).toEqual(refused)
    expect(await ada.ask(fs.read, { path })).toMatchObject({ content: 'theirs', sha256: if_sha256 })
    expect((await ada.call(fs.write, { path, content: 'mine', if_sha256 })).status).toBe(200)
    expect(await ada.ask(fs.read, { path })).toMatchObject({ content: 'mine' })
    await ada.ask(fs.delete, { path })
    expect(await write({ if_sha256 })).toEqual(refused)
  })

  test('replace, and keep what was there as a version', async () => {
    const ada = await server.account()
    await ada.ask(fs.write, { path: '/t', content: 'one' })
    await ada.ask(fs.write, { path: '/t', content: 'two!' })
    expect((await ada.ask(fs.read, { path: '/t' })).content).toBe('two!')
    const kept = await server.database.read.q
      .selectFrom('versions')
      .select('size')
      .where('user_id', '=', ada.id)
      .execute()
    expect(kept).toEqual([{ size: 3 }])
    await mirrorOf(ada).follow()
  })

  test('read texts of 5 MiB and no more, and only texts', async () => {
    const ada = await server.account()
    const full = 'a'.repeat(5 * 1_048_576)
    await ada.put('/full', full)
    await ada.put('/over', `${full}a`)
    await ada.put('/latin', Buffer.from([0x66, 0xfc, 0x72]))
    await ada.put('/cut', Buffer.from([0xe2, 0x82]))
    await ada.put('/nul', 'a\0b')
    expect((await ada.ask(fs.read, { path: '/full' })).content).toBe(full)
    expect(await outcome(ada.call(fs.read, { path: '/over' }))).toEqual([413, 'too_large'])
    for (const path of ['/latin', '/cut', '/nul'])
      expect(await outcome(ada.call(fs.read, { path }))).toEqual([415, 'unsupported_media_type'])
    for (const path of ['/', '/none', '/full/x', '/Teamchat', '/Teamchat/x', '/Teamchat/x/y'])
      expect([path, ...(await outcome(ada.call(fs.read, { path })))]).toEqual([path, 404, 'not_found'])
  })

  test('refuse what cannot be a place for a text', async () => {
    const ada = await server.account()
    await ada.put('/file', 'x')
    await ada.ask(fs.mkdir, { path: '/folder' })
    const before = await commitsSeenBy(server.database)
    expect(await outcome(ada.call(fs.write, { path: '/folder', content: 'x' }))).toEqual([409, 'exists'])
    expect(await outcome(ada.call(fs.write, { path: '/file/below', content: 'x' }))).toEqual([409, 'exists'])
    expect(await outcome(ada.call(fs.write, { path: '/', content: 'x' }))).toEqual([400, 'bad_path'])
    expect(await outcome(ada.call(fs.write, { path: '/a/../b', content: 'x' }))).toEqual([400, 'bad_path'])
    expect(await commitsSeenBy(server.database)).toBe(before)
  })
})

describe('mkdir', () => {
  test('makes missing parents, and says when the folder is there', async () => {
    const ada = await server.account()
    expect(await ada.ask(fs.mkdir, { path: '/a/b' })).toEqual({ ok: true, path: '/a/b' })
    expect(await outcome(ada.call(fs.mkdir, { path: '/a/b' }))).toEqual([409, 'exists'])
    await ada.put('/f', 'x')
    expect(await outcome(ada.call(fs.mkdir, { path: '/f' }))).toEqual([409, 'exists'])
    await mirrorOf(ada).follow()
  })
})

describe('delete', () => {
  test('is for good: no rows, no versions, no trash; only the end stands in the feed', async () => {
    const ada = await server.account()
    const mirror = mirrorOf(ada)
    await ada.put('/d/a', 'one')
    await ada.put('/d/a', 'two')
    await ada.put('/d/e/b', 'b')
    await mirror.follow()
    expect(await ada.ask(fs.delete, { path: '/d' })).toEqual({ ok: true, path: '/d' })
    await mirror.follow()
    const { q } = server.database.read
    expect(await q.selectFrom('nodes').select('name').where('user_id', '=', ada.id).execute()).toEqual([{ name: '' }])
    expect(await q.selectFrom('versions').select('id').where('user_id', '=', ada.id).execute()).toEqual([])
    expect((await ada.ask(trash.actions.list, {})).items).toEqual([])
    const { changes } = await ada.delta(0)
    expect(changes.map(({ operation }) => operation)).toEqual(['DELETE', 'DELETE', 'DELETE', 'DELETE'])
    expect(await outcome(ada.call(fs.delete, { path: '/d' }))).toEqual([404, 'not_found'])
  })

  test('leaves in the trash what was put there before, and that can still be restored', async () => {
    const ada = await server.account()
    await ada.put('/d/kept', 'kept')
    await ada.put('/d/gone', 'gone')
    await ada.ask(fs.trash, { path: '/d/kept' })
    await ada.ask(fs.delete, { path: '/d' })
    const { items } = await ada.ask(trash.actions.list, {})
    expect(items.map(({ path }) => path)).toEqual(['/d/kept'])
    expect(await ada.ask(trash.actions.restore, { id: items[0]!.id })).toEqual({ ok: true, path: '/d/kept' })
    expect((await ada.ask(fs.read, { path: '/d/kept' })).content).toBe('kept')
    await mirrorOf(ada).follow()
  })
})

describe('move and copy', () => {
  async function prepared() {
    const ada = await server.account()
    await ada.put('/d/e/f.txt', 'f', { mtime: 7 })
    await ada.put('/g.txt', 'gg')
    return ada
  }

  test('a copy is a tree of its own', async () => {
    const ada = await prepared()
    const mirror = mirrorOf(ada)
    await mirror.follow()
    expect(await ada.ask(fs.copy, { from: '/d', to: '/new/d2' })).toEqual({ ok: true, from: '/d', to: '/new/d2' })
    await ada.ask(fs.copy, { from: '/g.txt', to: '/h.txt' })
    await mirror.follow()
    await ada.ask(fs.write, { path: '/new/d2/e/f.txt', content: 'changed' })
    await ada.ask(fs.delete, { path: '/g.txt' })
    await mirror.follow()
    expect((await ada.ask(fs.read, { path: '/d/e/f.txt' })).content).toBe('f')
    expect((await ada.ask(fs.read, { path: '/h.txt' })).content).toBe('gg')
    expect((await ada.manifest()).files.find(({ path }) => path === '/d/e/f.txt')!.mtime).toBe(7)
  })

  test('a folder of 1,000 files is copied whole', async () => {
    const ada = await server.account()
    const operations = Array.from({ length: 40 }, (_, index) => index)
    await Promise.all(operations.map((index) => ada.put(`/d/x${index}`, `x${index % 7}`)))
    for (let copies = 40; copies < 1_000; copies *= 5) {
      for (let part = 0; part < 4; part += 1) await ada.ask(fs.copy, { from: '/d', to: `/p${copies}-${part}` })
      for (let part = 0; part < 4; part += 1)
        await ada.ask(fs.move, { from: `/p${copies}-${part}`, to: `/d/p${copies}-${part}` })
    }
    const mirror = mirrorOf(ada)
    await mirror.follow()
    await ada.ask(fs.copy, { from: '/d', to: '/all' })
    await mirror.follow()
    const { files } = await ada.manifest()
    expect(files.filter(({ path }) => path.startsWith('/all/'))).toHaveLength(1_000)
  })

  test.each(['move', 'copy'] as const)('%s refuses what makes no sense', async (name) => {
    const ada = await prepared()
    const action = fs[name]
    const before = await commitsSeenBy(server.database)
    const refused: [from: string, to: string, status: number, code: string][] = [
      ['/none', '/x', 404, 'not_found'],
      ['/d', '/g.txt', 409, 'exists'],
      ['/g.txt', '/d', 409, 'exists'],
      ['/d', '/d', 409, 'exists'],
      ['/d', '/d/e/inside', 400, 'bad_request'],
      ['/d', '/d/new', 400, 'bad_request'],
      ['/', '/x', 400, 'bad_path'],
      ['/d', '/', 400, 'bad_path'],
      ['/d', '/g.txt/below', 409, 'exists'],
      ['/d', '/a/./b', 400, 'bad_path'],
    ]
    for (const [from, to, ...wanted] of refused)
      expect([from, to, ...(await outcome(ada.call(action, { from, to })))]).toEqual([from, to, ...wanted])
    expect(await commitsSeenBy(server.database)).toBe(before)
  })

  test.each(['move', 'copy'] as const)('%s makes no path that nobody could name', async (name) => {
    const ada = await server.account()
    const deep = (levels: number, part = 'x') => `/${Array(levels).fill(part).join('/')}`
    await ada.ask(fs.mkdir, { path: `/top${deep(40)}` })
    await ada.ask(fs.mkdir, { path: '/long' + deep(10, 'n'.repeat(250)) })
    expect(await outcome(ada.call(fs[name], { from: '/top', to: deep(25, 'y') }))).toEqual([400, 'bad_path'])
    expect(await outcome(ada.call(fs[name], { from: '/long', to: deep(8, 'm'.repeat(250)) }))).toEqual([
      400,
      'bad_path',
    ])
    expect(await outcome(ada.call(fs[name], { from: '/top', to: deep(24, 'y') }))).toEqual([200, 'ok'])
    await mirrorOf(ada).follow()
  })

  test('a copy counts, to the last byte', async () => {
    const ada = await server.account({ quota: 10 })
    await ada.put('/d/a', '12345')
    expect(await outcome(ada.call(fs.copy, { from: '/d', to: '/e' }))).toEqual([200, 'ok'])
    expect(await outcome(ada.call(fs.copy, { from: '/d', to: '/f' }))).toEqual([413, 'quota_exceeded'])
    await ada.put('/empty', '')
    expect(await outcome(ada.call(fs.copy, { from: '/empty', to: '/empty2' }))).toEqual([200, 'ok'])
    await mirrorOf(ada).follow()
  })
})

describe('upload', () => {
  test('stores a file under its own name, replaces it, and keeps what was there', async () => {
    const ada = await server.account()
    const big = new Uint8Array(bytesOf(200_000))
    expect((await ada.call(fs.upload, { path: '/' }, { body: form('one', 'a b.txt') })).json).toEqual({
      ok: true,
      path: '/a b.txt',
      size: 3,
    })
    const { json } = await ada.call(fs.upload, { path: '/docs/' }, { body: form(big, 'ü.bin') })
    expect(json).toEqual({ ok: true, path: '/docs/ü.bin', size: 200_000 })
    await ada.call(fs.upload, { path: '/docs' }, { body: form('two', 'ü.bin') })
    expect((await ada.download('/docs/ü.bin')).bytes.toString()).toBe('two')
    const kept = await server.database.read.q
      .selectFrom('versions')
      .select('sha256')
      .where('user_id', '=', ada.id)
      .execute()
    expect(kept).toEqual([{ sha256: sha256Of(big) }])
    await mirrorOf(ada).follow()
  })

  test.each([
    ['../x', 'bad_path'],
    ['/etc/passwd', 'bad_path'],
    ['a/b', 'bad_path'],
    ['..', 'bad_path'],
    ['.', 'bad_path'],
    ['a\\b', 'bad_path'],
    ['C:\\x', 'bad_path'],
    ['a\u0000b', 'bad_path'],
    ['a\u0007b', 'bad_path'],
    ['n'.repeat(300), 'bad_path'],
    ['é'.repeat(128), 'bad_path'],
  ])('refuses the name %j', async (name, code) => {
    const ada = await server.account()
    await ada.ask(fs.mkdir, { path: '/d' })
    const before = await commitsSeenBy(server.database)
    const quoted = name.replaceAll('\\', '\\\\')
    const sent = rawForm(`Content-Disposition: form-data; name="file"; filename="${quoted}"`)
    const reply = await ada.call(fs.upload, { path: '/d' }, sent)
    // A control character is no header to begin with.
    expect([reply.status, ['bad_request', code].includes(String(reply.json['code']))]).toEqual([400, true])
    expect(await commitsSeenBy(server.database)).toBe(before)
  })

  test.each(['Grüße 🌳.txt', "it's (1).txt", 'n'.repeat(255), '.hidden', 'CON', 'a;b=c.txt', ' '])(
    'keeps the name %j',
    async (name) => {
      const ada = await server.account()
      const reply = await ada.call(fs.upload, { path: '/d' }, { body: form('x', name) })
      expect(reply.json).toEqual({ ok: true, path: `/d/${name}`, size: 1 })
    },
  )

  test('needs a part with a name', async () => {
    const ada = await server.account()
    expect(await outcome(ada.call(fs.upload, { path: '/' }, { body: 'raw' }))).toEqual([400, 'bad_request'])
    for (const rest of ['name="file"; filename=""', 'name="file"', 'name="other"; filename="x"'])
      expect(
        await outcome(ada.call(fs.upload, { path: '/' }, rawForm(`Content-Disposition: form-data; ${rest}`))),
      ).toEqual([400, 'bad_request'])
    const two = form('x', 'a')
    two.append('file', new Blob(['y']), 'b')
    expect(await outcome(ada.call(fs.upload, { path: '/' }, { body: two }))).toEqual([400, 'bad_request'])
    expect(await names(ada)).toEqual(['Teamchat'])
  })

  test('counts, to the last byte, and refuses early what is far too long', async () => {
    const ada = await server.account({ quota: 10 })
    expect(await outcome(ada.call(fs.upload, { path: '/' }, { body: form('12345678901', 'a') }))).toEqual([
      413,
      'quota_exceeded',
    ])
    expect(await outcome(ada.call(fs.upload, { path: '/' }, { body: form('1234567890', 'a') }))).toEqual([200, 'ok'])
    expect(await outcome(ada.call(fs.upload, { path: '/' }, { body: form('123456789X', 'a') }))).toEqual([200, 'ok'])
    const big = form(new Uint8Array(400_000), 'big')
    expect(await outcome(ada.call(fs.upload, { path: '/' }, { body: big }))).toEqual([413, 'quota_exceeded'])
    await mirrorOf(ada).follow()
  })
})

describe('download', () => {
  test.each(['page.html', 'image.svg', 'paper.pdf', 'script.js', 'Grüße "1".txt'])(
    'of %s is to be saved',
    async (name) => {
      const ada = await server.account()
      await ada.put(`/${name}`, '<script>alert(1)</script>')
      const reply = await ada.call(fs.download, { path: `/${name}` })
      expect(reply.bytes.toString()).toBe('<script>alert(1)</script>')
      expect(reply.headers.get('content-type')).toBe('application/octet-stream')
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
      expect(reply.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
      const disposition = reply.headers.get('content-disposition')!
      expect(disposition).toMatch(/^attachment; filename="[^"%\\]*"; filename\*=UTF-8''[\w.!#$&+^`|~%-]+$/)
      expect(decodeURIComponent(disposition.split("''")[1]!)).toBe(name)
    },
  )

  test('honours ranges and HEAD', async () => {
    const ada = await server.account()
    await ada.put('/t', '0123456789')
    const part = await ada.call(fs.download, { path: '/t' }, { headers: { range: 'bytes=2-4' } })
    expect([part.status, part.bytes.toString(), part.headers.get('content-range')]).toEqual([
      206,
      '234',
      'bytes 2-4/10',
    ])
    const head = await ada.call(fs.download, { path: '/t' }, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), head.bytes.length]).toEqual([200, '10', 0])
    expect((await ada.call(fs.download, { path: '/t' }, { headers: { range: 'bytes=10-' } })).status).toBe(416)
    expect(await outcome(ada.call(fs.download, { path: '/none' }))).toEqual([404, 'not_found'])
  })
})

test('nobody sees or changes the files of others', async () => {
  const ada = await server.account()
  const bob = await server.account()
  await ada.put('/secret', 'x')
  const before = await commitsSeenBy(server.database)
  const calls = [
    bob.call(fs.read, { path: '/secret' }),
    bob.call(fs.download, { path: '/secret' }),
    bob.call(fs.archive, { path: '/secret' }),
    bob.call(fs.delete, { path: '/secret' }),
    bob.call(fs.trash, { path: '/secret' }),
    bob.call(fs.move, { from: '/secret', to: '/mine' }),
    bob.call(fs.copy, { from: '/secret', to: '/mine' }),
  ]
  for (const call of calls) expect(await outcome(call)).toEqual([404, 'not_found'])
  expect(await commitsSeenBy(server.database)).toBe(before)
})
