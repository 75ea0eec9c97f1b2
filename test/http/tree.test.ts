import { describe, expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import type { Account } from '../support/account.ts'
import type { Reply } from '../support/request.ts'
import { sha256Of } from '../support/contents.ts'
import { serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const { delete: remove, mkdir, move } = syncFiles.actions

const server = await serverOfFile()

/** An account with files: each has its own path for a content. */
async function withFiles(...paths: string[]): Promise<Account> {
  const account = await server.account()
  for (const path of paths) await account.put(path, path, { mtime: 1_700_000_000 })
  return account
}

/** Every path of an account, folders with a slash behind them. */
async function tree(account: Account): Promise<string[]> {
  const { files, directories } = await account.manifest()
  return [...files.map(({ path }) => path), ...directories.map((path) => `${path}/`)].sort()
}

async function refused(attempt: Promise<Reply>, status: number, code: string, more: object = {}): Promise<void> {
  const { status: actual, json } = await attempt
  expect([actual, json]).toMatchObject([status, { ok: false, code, ...more }])
}

/** What is refused must leave everything as it is. */
async function unchanged(what: () => Promise<void>): Promise<void> {
  const before = await commitsSeenBy(server.database)
  await what()
  expect(await commitsSeenBy(server.database)).toBe(before)
}

describe('deleting', () => {
  const rowsOfTrash = (account: Account) =>
    server.database.read.q.selectFrom('trash').selectAll().where('user_id', '=', account.id).execute()

  test('a file takes it away and keeps it in the trash', async () => {
    const account = await withFiles('/a.txt', '/b.txt')
    expect(await account.ask(remove, { path: '/a.txt' })).toEqual({ ok: true, path: '/a.txt', deleted: true })
    expect(await tree(account)).toEqual(['/b.txt'])
    expect((await account.download('/a.txt')).status).toBe(404)
    expect(await rowsOfTrash(account)).toMatchObject([{ path: '/a.txt', deleted_at: server.clock.now() }])
  })

  test('a folder takes away all that is in it, as one entry of the trash', async () => {
    const account = await withFiles('/a/1.txt', '/a/b/2.txt', '/a/b/c/3.txt', '/ab/4.txt')
    expect(await account.ask(remove, { path: '/a' })).toEqual({ ok: true, path: '/a', deleted: true })
    expect(await tree(account)).toEqual(['/ab/', '/ab/4.txt'])
    expect(await rowsOfTrash(account)).toHaveLength(1)
    const nodes = await server.database.read.q
      .selectFrom('nodes')
      .select(['name', 'parent_id', 'trash_id'])
      .where('user_id', '=', account.id)
      .where('trash_id', 'is not', null)
      .execute()
    expect(nodes.map(({ name }) => name).sort()).toEqual(['1.txt', '2.txt', '3.txt', 'a', 'b', 'c'])
  })

  test.each(['/missing', '/a.txt/below', '/missing/too'])('what is not there is done already: %s', async (path) => {
    const account = await withFiles('/a.txt')
    await unchanged(async () => {
      expect(await account.ask(remove, { path })).toEqual({ ok: true, path, already_deleted: true })
    })
  })

  test('a folder leaves alone what was deleted out of it before: an entry of its own, counted once', async () => {
    const account = await withFiles('/a/b/1.txt', '/a/2.txt')
    await account.put('/kept.txt', 'x'.repeat(100))
    await account.ask(remove, { path: '/a/b' })
    const { cursor } = await account.everything()
    await account.ask(remove, { path: '/a' })
    const [first, second] = await rowsOfTrash(account)
    expect([first!.path, second!.path]).toEqual(['/a/b', '/a'])
    const nodes = await server.database.read.q
      .selectFrom('nodes')
      .select(['name', 'trash_id'])
      .where('user_id', '=', account.id)
      .where('trash_id', 'is not', null)
      .execute()
    expect(new Map(nodes.map(({ name, trash_id }) => [name, trash_id]))).toEqual(
      new Map([
        ['a', second!.id],
        ['2.txt', second!.id],
        ['b', first!.id],
        ['1.txt', first!.id],
      ]),
    )
    expect((await account.delta(cursor)).changes).toHaveLength(2)
    expect(await account.ask(filesystem.actions.quota, {})).toMatchObject({ used: 100 })
  })

  test('leaves room for another of that name, and each stays restorable', async () => {
    const account = await withFiles('/a/x.txt')
    await account.ask(remove, { path: '/a' })
    await account.put('/a', 'a file now')
    await account.ask(remove, { path: '/a' })
    await account.put('/a/x.txt', 'a folder again')
    expect(await tree(account)).toEqual(['/a/', '/a/x.txt'])
    expect(await rowsOfTrash(account)).toHaveLength(2)
  })

  test('a file only when it is the one that is meant', async () => {
    const account = await withFiles('/a.txt', '/folder/x')
    const current = { sha256: sha256Of('/a.txt'), size: 6, mtime: 1_700_000_000, version: 1 }
    await unchanged(async () => {
      for (const more of [{ if_sha256: sha256Of('other') }, {}]) {
        const headers: Record<string, string> = more.if_sha256 ? {} : { 'if-match': `"${sha256Of('other')}"` }
        const reply = await account.call(remove, { path: '/a.txt', ...more }, { headers })
        expect([reply.status, reply.json]).toMatchObject([412, { code: 'precondition_failed', current }])
      }
      await refused(account.call(remove, { path: '/folder', if_sha256: sha256Of('x') }), 412, 'precondition_failed', {
        current: null,
      })
      await refused(account.call(remove, { path: '/a.txt' }, { headers: { 'if-match': '*' } }), 400, 'bad_request')
    })
    expect((await account.call(remove, { path: '/missing', if_sha256: sha256Of('x') })).json).toMatchObject({
      already_deleted: true,
    })
    expect((await account.call(remove, { path: '/a.txt', if_sha256: sha256Of('/a.txt') })).json).toMatchObject({
      deleted: true,
    })
  })

  test('a folder only when it is empty, if that is asked for', async () => {
    const account = await withFiles('/a/x.txt', '/file')
    await account.ask(mkdir, { path: '/b/c' })
    await unchanged(async () => {
      await refused(account.call(remove, { path: '/a', if_empty: true }), 409, 'not_empty')
      await refused(account.call(remove, { path: '/b', if_empty: true }), 409, 'not_empty')
      await refused(account.call(remove, { path: '/file', if_empty: true }), 409, 'conflict')
      expect(await account.ask(remove, { path: '/missing', if_empty: true })).toMatchObject({ already_deleted: true })
    })
    expect(await account.ask(remove, { path: '/b/c', if_empty: true })).toMatchObject({ deleted: true })
    await account.ask(remove, { path: '/a/x.txt' })
    expect(await account.ask(remove, { path: '/a', if_empty: true })).toMatchObject({ deleted: true })
    expect(await account.ask(remove, { path: '/b', if_empty: false })).toMatchObject({ deleted: true })
  })

  test('many times at once does it once', async () => {
    const account = await withFiles('/a/1.txt', '/a/2.txt')
    const { cursor } = await account.everything()
    const replies = await Promise.all(Array.from({ length: 6 }, () => account.ask(remove, { path: '/a' })))
    expect(replies.filter(({ deleted }) => deleted)).toHaveLength(1)
    expect((await account.delta(cursor)).changes).toHaveLength(3)
  })

  test('touches nobody else’s file of that name', async () => {
    const [account, stranger] = [await withFiles('/a.txt'), await withFiles('/a.txt')]
    await account.ask(remove, { path: '/a.txt' })
    expect(await tree(stranger)).toEqual(['/a.txt'])
  })
})

describe('making a folder', () => {
  test('makes its missing parents, and tells of each', async () => {
    const account = await server.account()
    expect(await account.ask(mkdir, { path: '/a/b/c' })).toEqual({ ok: true, path: '/a/b/c', created: true })
    expect(await tree(account)).toEqual(['/a/', '/a/b/', '/a/b/c/'])
    expect((await account.delta(0)).changes.map(({ data }) => [data['name'], data['type']])).toEqual([
      ['a', 'directory'],
      ['b', 'directory'],
      ['c', 'directory'],
    ])
  })

  test('that is there changes nothing', async () => {
    const account = await withFiles('/a/x.txt')
    await unchanged(async () => {
      expect(await account.ask(mkdir, { path: '/a' })).toEqual({ ok: true, path: '/a', created: false })
    })
  })

  test('where a file is, or below one, is refused', async () => {
    const account = await withFiles('/a')
    await unchanged(async () => {
      await refused(account.call(mkdir, { path: '/a' }), 409, 'exists')
      await refused(account.call(mkdir, { path: '/a/b/c' }), 409, 'exists')
    })
  })

  test('many times at once makes it once', async () => {
    const account = await server.account()
    const replies = await Promise.all(Array.from({ length: 6 }, () => account.ask(mkdir, { path: '/a/b' })))
    expect(replies.filter(({ created }) => created)).toHaveLength(1)
    expect((await account.delta(0)).changes).toHaveLength(2)
  })
})

describe('moving', () => {
  test('a file keeps its content, time and identity, and makes missing folders', async () => {
    const account = await withFiles('/a.txt')
    const [before] = (await account.everything()).data['svc_files']!
    expect(await account.ask(move, { from: '/a.txt', to: '/new/place/b.txt' })).toEqual({
      ok: true,
      from: '/a.txt',
      to: '/new/place/b.txt',
    })
    expect(await tree(account)).toEqual(['/new/', '/new/place/', '/new/place/b.txt'])
    expect((await account.manifest()).files).toEqual([
      { path: '/new/place/b.txt', size: 6, sha256: sha256Of('/a.txt'), mtime: 1_700_000_000 },
    ])
    expect((await account.download('/new/place/b.txt')).bytes.toString()).toBe('/a.txt')
    const { changes } = await account.delta(1)
    expect(changes.map(({ operation, data }) => [operation, data['name']])).toEqual([
      ['INSERT', 'new'],
      ['INSERT', 'place'],
      ['UPDATE', 'b.txt'],
    ])
    expect(changes[2]!.data).toMatchObject({ id: before!.id, version: 2, sha256: before!['sha256'] })
  })

  test('a folder takes all that is in it along, as one change', async () => {
    const account = await withFiles('/a/1.txt', '/a/b/2.txt')
    const { cursor } = await account.everything()
    await account.ask(move, { from: '/a', to: '/z' })
    expect(await tree(account)).toEqual(['/z/', '/z/1.txt', '/z/b/', '/z/b/2.txt'])
    expect((await account.delta(cursor)).changes).toHaveLength(1)
    expect((await account.download('/z/b/2.txt')).bytes.toString()).toBe('/a/b/2.txt')
  })

  test.each([
    ['a file', '/a.txt', '/b.txt'],
    ['a folder', '/a.txt', '/folder'],
    ['itself', '/a.txt', '/a.txt'],
    ['a folder that is itself', '/folder', '/folder'],
    ['the folder it is in', '/folder/x', '/folder'],
  ])('onto %s is refused', async (_, from, to) => {
    const account = await withFiles('/a.txt', '/b.txt', '/folder/x')
    await unchanged(() => refused(account.call(move, { from, to }), 409, 'exists'))
  })

  test.each(['/a.txt/b', '/a.txt/b/c'])('below a file is refused: %s', async (to) => {
    const account = await withFiles('/a.txt', '/b.txt')
    await unchanged(() => refused(account.call(move, { from: '/b.txt', to }), 409, 'exists'))
  })

  test.each([
    ['/a', '/a/b'],
    ['/a', '/a/x/y/z'],
    ['/a/b', '/a/b/c'],
    ['/file', '/file/x'],
    ['/caf\u00e9', '/cafe\u0301/x'],
  ])('%s into itself is refused: %s', async (from, to) => {
    const account = await withFiles('/a/b/x.txt', '/file', '/caf\u00e9/y.txt')
    await unchanged(() => refused(account.call(move, { from, to }), 400, 'bad_request'))
  })

  test.each(['/missing', '/missing/x', '/a.txt/x', '/folder/missing'])(
    'what is not there is refused: %s',
    async (from) => {
      const account = await withFiles('/a.txt', '/folder/x')
      await unchanged(() => refused(account.call(move, { from, to: '/new' }), 404, 'not_found'))
    },
  )

  test('to a name of other case or beside a longer one is a rename', async () => {
    const account = await withFiles('/a/x.txt')
    await account.ask(move, { from: '/a', to: '/A' })
    await account.ask(move, { from: '/A/x.txt', to: '/A/X.txt' })
    await account.ask(move, { from: '/A', to: '/Ab' })
    expect(await tree(account)).toEqual(['/Ab/', '/Ab/X.txt'])
  })

  test('to where something was deleted or moved away is possible', async () => {
    const account = await withFiles('/a', '/b', '/c')
    await account.ask(remove, { path: '/b' })
    await account.ask(move, { from: '/a', to: '/b' })
    await account.ask(move, { from: '/c', to: '/a' })
    const contents = await Promise.all(
      ['/a', '/b'].map(async (path) => (await account.download(path)).bytes.toString()),
    )
    expect(contents).toEqual(['/c', '/a'])
  })

  test('a file only when it is the one that is meant', async () => {
    const account = await withFiles('/a.txt', '/folder/x')
    await unchanged(async () => {
      const current = { sha256: sha256Of('/a.txt'), version: 1 }
      await refused(
        account.call(move, { from: '/a.txt', to: '/b', if_sha256: sha256Of('x') }),
        412,
        'precondition_failed',
        { current },
      )
      await refused(
        account.call(move, { from: '/folder', to: '/b', if_sha256: sha256Of('x') }),
        412,
        'precondition_failed',
        { current: null },
      )
    })
    await account.ask(move, { from: '/a.txt', to: '/b', if_sha256: sha256Of('/a.txt') })
    expect(await tree(account)).toEqual(['/b', '/folder/', '/folder/x'])
  })

  test('the same file to two places at once ends in one of them', async () => {
    const account = await withFiles('/a')
    const replies = await Promise.all(['/b', '/c', '/d', '/e'].map((to) => account.call(move, { from: '/a', to })))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404])
    expect(await tree(account)).toHaveLength(1)
  })

  test('two folders into each other at once leaves no loop', async () => {
    const account = await withFiles('/a/1.txt', '/b/2.txt')
    const replies = await Promise.all([
      account.call(move, { from: '/a', to: '/b/a' }),
      account.call(move, { from: '/b', to: '/a/b' }),
    ])
    expect(replies.map(({ status }) => status)).toContain(200)
    expect((await account.manifest()).files).toHaveLength(2)
    // Nothing hangs in the air: every path leads from the root.
    expect(await tree(account)).toEqual(
      expect.arrayContaining([expect.stringMatching(/1\.txt$/), expect.stringMatching(/2\.txt$/)]),
    )
    for (const { path } of (await account.manifest()).files) expect((await account.download(path)).status).toBe(200)
  })

  describe('a folder whose contents would get paths that nobody may name', () => {
    test('is refused when they were too deep', async () => {
      const deep = '/d'.repeat(60)
      const account = await withFiles(`${deep}/x.txt`)
      await account.ask(mkdir, { path: '/1/2/3' })
      await account.ask(move, { from: '/d', to: '/1/2/3/d' })
      expect((await account.manifest()).files[0]!.path).toBe(`/1/2/3${deep}/x.txt`)
      await account.ask(mkdir, { path: '/4/5/6/7' })
      await unchanged(() => refused(account.call(move, { from: '/1/2/3/d', to: '/4/5/6/7/d' }), 400, 'bad_path'))
      expect((await account.download(`/1/2/3${deep}/x.txt`)).status).toBe(200)
    })

    test('is refused when they were too long', async () => {
      const long = `/${'n'.repeat(255)}`.repeat(15)
      const account = await withFiles(`/a${long}/${'x'.repeat(4_096 - 2 - long.length - 1)}`)
      await unchanged(() => refused(account.call(move, { from: '/a', to: '/ab' }), 400, 'bad_path'))
      await account.ask(move, { from: '/a', to: '/z' })
      expect((await account.manifest()).files[0]!.path).toHaveLength(4_096)
    })

    test('counts neither what was deleted in it nor what is in its neighbour', async () => {
      const account = await withFiles('/a/x.txt')
      await account.put(`/a${'/d'.repeat(62)}/y.txt`, 'y')
      await account.put(`/ab${'/d'.repeat(62)}/z.txt`, 'z')
      await account.ask(remove, { path: '/a/d' })
      await account.ask(move, { from: '/a', to: '/1/2/3' })
      expect(await tree(account)).toContain('/1/2/3/x.txt')
    })
  })
})

describe('the manifest', () => {
  const { manifest } = syncFiles.actions

  test('of an account without files is empty', async () => {
    const account = await server.account()
    const { identity } = server.local.domain.instance
    expect(await account.manifest()).toEqual({ ok: true, files: [], directories: [], cursor: 0, ...identity })
  })

  test('names every file with its content and every folder, and the cursor to go on from', async () => {
    const account = await withFiles('/b.txt', '/a/x.txt')
    await account.push({ table: 'svc_notes', operation: 'INSERT', data: { title: 'Tea' } })
    const answer = await account.manifest()
    expect(answer.files).toEqual([
      { path: '/b.txt', size: 6, sha256: sha256Of('/b.txt'), mtime: 1_700_000_000 },
      { path: '/a/x.txt', size: 8, sha256: sha256Of('/a/x.txt'), mtime: 1_700_000_000 },
    ])
    expect([answer.directories, answer.cursor]).toEqual([['/a'], 4])
    expect((await account.delta(answer.cursor)).changes).toEqual([])
  })

  test('is not sent again as long as no file changed, whatever rows do', async () => {
    const account = await withFiles('/a.txt')
    const first = await account.call(manifest)
    const tag = first.headers.get('etag')!
    const again = (etag = tag) => account.call(manifest, {}, { headers: { 'if-none-match': etag } })
    expect([(await again()).status, (await again()).bytes.length]).toEqual([304, 0])
    await account.push({ table: 'svc_notes', operation: 'INSERT', data: { title: 'Tea' } })
    expect((await again()).status).toBe(304)
    expect((await again('"x"')).status).toBe(200)

    const changes = [
      () => account.put('/b.txt', 'new'),
      () => account.put('/b.txt', 'other'),
      () => account.put('/b.txt', 'other', { mtime: 5 }),
      () => account.ask(mkdir, { path: '/folder' }),
      () => account.ask(move, { from: '/b.txt', to: '/folder/b.txt' }),
      () => account.ask(remove, { path: '/folder/b.txt' }),
      () => account.ask(remove, { path: '/folder' }),
    ]
    let last = tag
    for (const change of changes) {
      await change()
      const reply = await again(last)
      expect(reply.status).toBe(200)
      last = reply.headers.get('etag')!
      expect((await again(last)).status).toBe(304)
    }
  })

  test('of somebody else has another tag', async () => {
    const [account, stranger] = [await withFiles('/a'), await withFiles('/a', '/b')]
    expect((await account.call(manifest)).headers.get('etag')).not.toBe(
      (await stranger.call(manifest)).headers.get('etag'),
    )
  })

  test('can be asked about without being sent', async () => {
    const account = await withFiles('/a')
    const [head, whole] = [await account.call(manifest, {}, { method: 'HEAD' }), await account.call(manifest)]
    expect([head.status, head.bytes.length, head.headers.get('etag')]).toEqual([200, 0, whole.headers.get('etag')])
  })

  test('never misses a file that is moved meanwhile', async () => {
    const account = await server.account()
    await account.put('/0/x.txt', 'x')
    await account.put('/still.txt', 'y')
    let moving = true
    const mover = async () => {
      for (let step = 0; step < 60; step += 1) {
        if (step % 2) await account.ask(move, { from: `/${step - 1}/z.txt`, to: `/${step + 1}/x.txt` })
        else await account.ask(move, { from: `/${step}/x.txt`, to: `/${step}/z.txt` })
      }
      moving = false
    }
    const seen: string[][] = []
    const looker = async () => {
      while (moving) seen.push((await account.manifest()).files.map(({ sha256 }) => sha256))
    }
    await Promise.all([mover(), looker(), looker()])
    const expected = [sha256Of('x'), sha256Of('y')]
    expect(seen.length).toBeGreaterThan(5)
    expect(seen.filter((hashes) => JSON.stringify(hashes) !== JSON.stringify(expected))).toEqual([])
  })

  test('is whole also when it is long', async () => {
    const account = await server.account()
    // Straight into the tree: uploading as many takes its time.
    const { database, clock } = server
    await account.put('/seed', 'x')
    await database.write('instance', async (tx) => {
      const { id: root } = await tx.q
        .selectFrom('nodes')
        .select('id')
        .where('user_id', '=', account.id)
        .where('parent_id', 'is', null)
        .executeTakeFirstOrThrow()
      const node = {
        user_id: account.id,
        type: 'file' as const,
        sha256: sha256Of('x'),
        size: 1,
        mtime: 5,
        version: 1,
        created_at: clock.now(),
        updated_at: clock.now(),
        trash_id: null,
      }
      for (let start = 0; start < 12_000; start += 500) {
        const names = Array.from({ length: 500 }, (_, index) => `n${start + index}`)
        await tx.q
          .insertInto('nodes')
          .values(names.map((name) => ({ ...node, parent_id: root, name, name_key: name })))
          .execute()
      }
    })
    const { files } = await account.manifest()
    expect(files).toHaveLength(12_001)
    expect(new Set(files.map(({ path }) => path)).size).toBe(12_001)
    expect(files.at(-1)).toEqual({ path: '/n11999', size: 1, sha256: sha256Of('x'), mtime: 5 })
  })
})

describe('listing a folder', () => {
  const { list, quota } = filesystem.actions

  test('shows folders first, then by name, with what a file is', async () => {
    const account = await withFiles('/b.txt', '/a.png', '/z/x', '/Y/x')
    await account.ask(mkdir, { path: '/empty' })
    const { items, path } = await account.ask(list, {})
    const modified = '2023-11-14T22:13:20.000Z'
    const made = new Date(Math.floor(server.clock.now() / 1_000) * 1_000).toISOString()
    expect(path).toBe('/')
    expect(items).toEqual([
      { name: 'Teamchat', type: 'directory', modified: expect.any(String) as string },
      { name: 'Y', type: 'directory', modified: made },
      { name: 'empty', type: 'directory', modified: made },
      { name: 'z', type: 'directory', modified: made },
      { name: 'a.png', type: 'file', size: 6, modified, mime: 'image/png' },
      { name: 'b.txt', type: 'file', size: 6, modified, mime: 'text/plain' },
    ])
    expect((await account.ask(list, { path: '/empty' })).items).toEqual([])
    expect((await account.ask(list, { path: '/z' })).items).toMatchObject([
      { name: 'x', mime: 'application/octet-stream' },
    ])
  })

  test.each(['/missing', '/file', '/file/x', '/Teamchat/none'])('that is none finds nothing: %s', async (path) => {
    const account = await withFiles('/file')
    await refused(account.call(list, { path }), 404, 'not_found')
  })

  test.each([
    [{}, 0, { used: 0, total: 0, percent: 0, used_formatted: '0 B', total_formatted: 'unbegrenzt' }],
    [
      { quota: 2_048 },
      1_023,
      { used: 1_023, total: 2_048, percent: 49, used_formatted: '1023 B', total_formatted: '2 KB' },
    ],
    [
      { quota: 1_536 },
      1_536,
      { used: 1_536, total: 1_536, percent: 100, used_formatted: '1.5 KB', total_formatted: '1.5 KB' },
    ],
    [
      { quota: (3 * 1024 ** 3) / 2 },
      0,
      { used: 0, total: 1_610_612_736, percent: 0, used_formatted: '0 B', total_formatted: '1.5 GB' },
    ],
  ])('comes with the quota %j of which %i bytes are used', async (options, size, expected) => {
    const account = await server.account(options)
    await account.put('/a', 'x'.repeat(size))
    expect(await account.ask(quota, {})).toMatchObject({ ok: true, ...expected })
  })
})
