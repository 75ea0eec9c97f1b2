import { describe, expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const { delete: remove, mkdir, move, upload } = syncFiles.actions

const server = await serverOfFile()

/** A path of exactly so many bytes. */
const pathOfBytes = (bytes: number): string => {
  const full = `/${'n'.repeat(255)}`.repeat(Math.floor(bytes / 256))
  const rest = bytes - full.length
  return rest === 0 ? full : rest === 1 ? `${full.slice(0, -1)}/n` : `${full}/${'n'.repeat(rest - 1)}`
}

const refused = [
  'x', 'a/b', './a', '~', 'C:\\x', 'file:///x',
  '/..', '/../x', '/a/../b', '/a/..', '/../../../../etc/passwd', '/.', '/a/./b', '/a/.',
  '//', '//a', '/a//b', '/a/', '/a/b/',
  '/a\\b', '/\\', '/..\\x', '\\x',
  '/\0', '/a\0b', '/a\x01', '/a\nb', '/a\r', '/a\tb', '/a\x1b[31m', '/a\x7f', '/a\x80', '/a\x85', '/a\x9f',
  `/${'a'.repeat(256)}`, `/${'ü'.repeat(128)}`, `/x/${'😀'.repeat(64)}`,
  pathOfBytes(4_097),
  '/a'.repeat(65),
  '/Teamchat', '/teamchat', '/TEAMCHAT/general/x.txt', '/TeamChat/x',
  '/',
] // prettier-ignore

const allowed = [
  '/...', '/..a', '/a..', '/a..b', '/.hidden', '/ ', '/ a', '/a ', '/a.', '/-rf', '/~', '/$HOME', '/*', '/a:b', '/a*?"<>|', "/it's",
  '/CON', '/nul.txt', '/%', '/%2e%2e', '/%2F', '/a%00b', '/%ff', '/+', '/a+b c', '/a&b=c#d?e;f', '/a,b', '/[x]{y}',
  '/ü', '/日本語/ファイル.txt', '/😀', '/e\u0301', '/\u202egnp.exe', '/\u200b', '/\ufeffx', '/\ufffd', '/İ', '/ß',
  `/${'a'.repeat(255)}`, `/${'ü'.repeat(127)}`,
  pathOfBytes(4_096),
  '/a'.repeat(64),
  '/files/Teamchat', '/Teamchat2', '/Teamcha', '/Teamchat ',
  '/__proto__', '/constructor/toString', '/.svc/tmp',
] // prettier-ignore

const short = (path: string) =>
  path.length > 60 ? `${JSON.stringify(path.slice(0, 40))}… (${path.length})` : JSON.stringify(path)
const table = (paths: string[]) => paths.map((path) => [short(path), path] as const)

describe('a path that could be read in two ways', () => {
  test.each(table(refused))('is refused and never repaired: %s', async (_, path) => {
    const account = await server.account()
    await account.put('/ok.txt', 'ok')
    const before = await commitsSeenBy(server.database)
    const replies = [
      await account.call(upload, { path }, { body: 'x' }),
      await account.call(mkdir, { path }),
      await account.call(remove, { path }),
      await account.call(move, { from: path, to: '/new' }),
      await account.call(move, { from: '/ok.txt', to: path }),
    ]
    for (const { status, json } of replies) {
      expect([status, json['code']]).toEqual([
        400,
        path.length > 4_096 || path.includes('\0') ? 'bad_request' : 'bad_path',
      ])
    }
    expect(await commitsSeenBy(server.database)).toBe(before)
    // Reading may also say that there is no such file, which is no more than the truth; two folders are always there.
    const isFolder = /^\/(teamchat)?$/i.test(path)
    expect([400, 404]).toContain((await account.download(path)).status)
    expect(isFolder ? [200] : [400, 404]).toContain((await account.call(filesystem.actions.list, { path })).status)
  })

  test.each([
    ['half a surrogate pair', '/\ud83d'],
    ['the other half', '/a/\ude00.txt'],
    ['the halves in the wrong order', '/\ude00\ud83d'],
  ])('is refused when it holds %s', async (_, path) => {
    const account = await server.account()
    for (const [action, params] of [
      [mkdir, { path }],
      [remove, { path }],
      [move, { from: path, to: '/x' }],
    ] as const) {
      const { status, json } = await account.call(action, params)
      expect([status, json['code']]).toEqual([400, 'bad_request'])
    }
    expect(await account.manifest()).toMatchObject({ files: [], directories: [] })
  })

  test.each([
    '%',
    '/%',
    '/a%2',
    '/a%zz',
    '/a%FF',
    '/%C3',
    '/%C3%28',
    '/%ED%A0%80',
    '/%F0%9F%98',
    '/%C0%AE%C0%AE/x',
    '/a%00b',
  ])('is refused when its percent signs make no UTF-8: %s', async (spelt) => {
    const account = await server.account()
    for (const method of ['POST', 'GET']) {
      const target = `${upload.path}?action=${method === 'POST' ? 'upload' : 'download'}&path=${spelt}`
      const reply = await server.send(target, {
        method,
        token: account.token,
        ...(method === 'POST' ? { body: 'x' } : {}),
      })
      expect([method, reply.status, reply.json['code']]).toEqual([
        method,
        400,
        expect.stringMatching(/^bad_(path|request)$/),
      ])
    }
    expect((await account.manifest()).files).toEqual([])
  })
})

describe('a path that is only unusual', () => {
  test.each(table(allowed))('is kept byte for byte: %s', async (_, path) => {
    const account = await server.account()
    expect(await account.put(path, path)).toMatchObject({ path, size: Buffer.byteLength(path) })
    const { files, directories } = await account.manifest()
    expect(files.map((file) => file.path)).toEqual([path])
    const segments = path.split('/').slice(1, -1)
    expect(directories).toEqual(segments.map((_each, depth) => `/${segments.slice(0, depth + 1).join('/')}`))
    expect((await account.download(path)).bytes.toString()).toBe(path)
    expect(await account.ask(remove, { path })).toEqual({ ok: true, path, deleted: true })
    expect(await account.ask(mkdir, { path })).toMatchObject({ path, created: true })
    expect((await account.manifest()).directories).toContain(path)
  })

  test('names that differ in case are two names', async () => {
    const account = await server.account()
    await account.put('/Readme', 'A')
    await account.put('/readme', 'b')
    expect((await account.manifest()).files.map(({ path }) => path)).toEqual(['/Readme', '/readme'])
    expect((await account.download('/Readme')).bytes.toString()).toBe('A')
  })
})

describe('two spellings of one name', () => {
  const composed = '/caf\u00e9'
  const decomposed = '/cafe\u0301'

  test('are one file, which keeps the spelling it was made with', async () => {
    const account = await server.account()
    await account.put(`${composed}/\u00e9.txt`, 'first')
    expect(await account.put(`${decomposed}/e\u0301.txt`, 'second')).toMatchObject({ version: 2 })
    const { files, directories } = await account.manifest()
    expect([directories, files.map(({ path }) => path)]).toEqual([[composed], [`${composed}/\u00e9.txt`]])
    for (const path of [`${composed}/\u00e9.txt`, `${decomposed}/e\u0301.txt`]) {
      expect((await account.download(path)).bytes.toString()).toBe('second')
    }
    expect((await account.call(mkdir, { path: decomposed })).json).toMatchObject({ created: false })
    expect((await account.call(mkdir, { path: `${decomposed}/e\u0301.txt` })).json).toMatchObject({ code: 'exists' })
  })

  test('are told apart by a move from one to the other, which is a rename', async () => {
    const account = await server.account()
    await account.put(`${composed}/x.txt`, 'x')
    const { cursor } = await account.everything()
    expect(await account.ask(move, { from: composed, to: decomposed })).toEqual({
      ok: true,
      from: composed,
      to: decomposed,
    })
    expect((await account.manifest()).directories).toEqual([decomposed])
    expect((await account.delta(cursor)).changes).toMatchObject([{ operation: 'UPDATE', data: { name: 'cafe\u0301' } }])
    expect((await account.call(move, { from: composed, to: decomposed })).json).toMatchObject({ code: 'exists' })
  })
})
