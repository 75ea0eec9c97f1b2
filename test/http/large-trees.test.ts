import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { HOUR } from '../../src/base/clock.ts'
import { filesystem } from '../../src/contract/filesystem.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { trash } from '../../src/contract/trash.ts'
import { versions } from '../../src/contract/versions.ts'
import { beginEntry, setState, SLICE } from '../../src/storage/files/tree-slices.ts'
import type { Account } from '../support/account.ts'
import { blobsOf, bytesOf, sha256Of } from '../support/contents.ts'
import { mirrorOf } from '../support/mirror.ts'
import { serverOfFile } from '../support/server.ts'

const fs = filesystem.actions
const { files_batch } = syncFiles.actions

const server = await serverOfFile()

const outcome = async (reply: ReturnType<Account['call']>) => {
  const { status, json } = await reply
  return [status, json['code'] ?? 'ok']
}
const flaws = async () => (await server.local.domain.instance.storage.check()).problems
const items = async (account: Account) => (await account.ask(trash.actions.list, {})).items

/** An account with `/d`, which holds so many folders in two levels. */
async function withFolders(count: number): Promise<Account> {
  const ada = await server.account()
  const paths = Array.from({ length: count }, (_, index) => `/d/${index % 40}/${index}`)
  for (let at = 0; at < count; at += 500) {
    const operations = paths.slice(at, at + 500).map((path) => ({ op: 'mkdir' as const, path }))
    await ada.ask(files_batch, { operations })
  }
  return ada
}

const foldersOf = async (account: Account) => (await account.manifest()).directories.length

describe('a large tree', () => {
  test('that is copied, deleted, restored and erased lets others write all the while, and their feeds stay true', async () => {
    const ada = await withFolders(1_500)
    const size = await foldersOf(ada)
    const mirror = mirrorOf(ada)
    await mirror.follow()
    const grace = await server.account()
    let written = 0
    /** Writes as another account until the operation is over; says how often. */
    const beside = async (operation: Promise<unknown>): Promise<number> => {
      let running = true
      const over = operation.finally(() => (running = false))
      let writes = 0
      for (; running; writes += 1) await grace.put('/note', `${++written}`)
      await over
      return writes
    }

    const copied = await beside(ada.ask(fs.copy, { from: '/d', to: '/e' }))
    expect(await foldersOf(ada)).toBe(2 * size)
    await mirror.follow()
    const trashed = await beside(ada.ask(fs.trash, { path: '/e' }))
    expect(await foldersOf(ada)).toBe(size)
    await mirror.follow()
    const [entry] = await items(ada)
    const restored = await beside(ada.ask(trash.actions.restore, { id: entry!.id, to: '/f' }))
    expect(await foldersOf(ada)).toBe(2 * size)
    await mirror.follow()
    const erased = await beside(ada.ask(fs.delete, { path: '/f' }))
    expect(await foldersOf(ada)).toBe(size)
    await mirror.follow()
    expect(await items(ada)).toEqual([])
    expect(await flaws()).toEqual([])
    // On Postgres, accounts write at the same time, and how much happens meanwhile is a matter of speed.
    if (server.env['SVC_DATABASE'] !== undefined) return
    // In one transaction each of them would let one write pass, or two.
    for (const writes of [copied, trashed, restored, erased]) expect(writes).toBeGreaterThan(3)
  })

  test('is copied, deleted, restored and erased in many transactions', async () => {
    const ada = await withFolders(1_500)
    const size = await foldersOf(ada)
    /** Changes in a commit, on average; nobody else writes. */
    const step = async (operation: () => Promise<unknown>): Promise<number> => {
      const { commits } = server.local.activity.database()
      await operation()
      return size / (server.local.activity.database().commits - commits)
    }
    const steps = [
      await step(() => ada.ask(fs.copy, { from: '/d', to: '/e' })),
      await step(() => ada.ask(fs.trash, { path: '/e' })),
    ]
    const [entry] = await items(ada)
    steps.push(
      await step(() => ada.ask(trash.actions.restore, { id: entry!.id, to: '/f' })),
      await step(() => ada.ask(fs.delete, { path: '/f' })),
    )
    expect(Math.max(...steps)).toBeLessThanOrEqual(SLICE)
  })

  test('that a crash left half done is finished, and a copy nobody makes any more goes without a trace', async () => {
    const ada = await withFolders(120)
    const size = await foldersOf(ada)
    const mirror = mirrorOf(ada)
    await mirror.follow()
    const { database, clock } = server
    const idOf = async (name: string) => {
      const rows = await database.read.q.selectFrom('nodes').select('id').where('name', '=', name).execute()
      return rows.at(-1)!.id
    }
    const begin = (node: number, state: 'marking' | 'erasing' | 'staging') =>
      database.write('instance', (tx) => beginEntry(tx, node, { user: ada.id, path: '/d', state }, clock.now()))
    const top = await idOf('d')

    await begin(top, 'marking')
    expect([await foldersOf(ada), (await flaws()).map(({ id }) => id)]).toEqual([0, ['feed-row-stray']])
    await server.local.domain.files.resume()
    await mirror.follow()
    const [entry] = await items(ada)
    expect([entry!.path, await flaws()]).toEqual(['/d', []])

    await ada.ask(trash.actions.restore, { id: entry!.id })
    await mirror.follow()
    expect(await foldersOf(ada)).toBe(size)

    await begin(top, 'staging')
    await server.local.domain.files.resume()
    expect(await database.read.q.selectFrom('trash').select('state').execute()).toEqual([{ state: 'staging' }])
    clock.pass(HOUR + 1)
    const left = await database.read.q.selectFrom('trash').select('id').executeTakeFirstOrThrow()
    await database.write('instance', (tx) => setState(tx, left.id, 'staging', 'erasing', clock.now()))
    await server.local.domain.files.resume()
    await mirror.follow()
    expect([await foldersOf(ada), await items(ada), await flaws()]).toEqual([0, [], []])
  })

  test('is copied out of sight first: one that is given up leaves nothing, and costs nothing', async () => {
    const ada = await withFolders(300)
    const size = await foldersOf(ada)
    await server.set('files.max_nodes', size + 100)
    onTestFinished(() => server.set('files.max_nodes', undefined))
    expect(await outcome(ada.call(fs.copy, { from: '/d', to: '/e' }))).toEqual([413, 'too_many_files'])
    await server.set('files.max_nodes', 2 * size)
    expect(await outcome(ada.call(fs.copy, { from: '/d', to: '/e' }))).toEqual([200, 'ok'])
    expect([await foldersOf(ada), await flaws()]).toEqual([2 * size, []])
  })
})

test('large copies of an account are made one after the other, and no more wait than can', async () => {
  const ada = await withFolders(250)
  const copies = Array.from({ length: 14 }, (_, index) =>
    outcome(ada.call(fs.copy, { from: '/d', to: `/copy-${index}` })),
  )
  const outcomes = (await Promise.all(copies)).map(([, code]) => code)
  expect(new Set(outcomes)).toEqual(new Set(['ok', 'busy']))
  expect(await flaws()).toEqual([])
})

test('an account has a bound of files and folders, whatever makes them', async () => {
  const ada = await server.account()
  const grace = await server.account()
  await ada.put('/a/b/c', 'one')
  await ada.ask(fs.trash, { path: '/a/b/c' })
  await server.set('files.max_nodes', 3)
  onTestFinished(() => server.set('files.max_nodes', undefined))
  await ada.put('/x', 'x')
  const [entry] = await items(ada)
  const refused = [
    ada.call(fs.mkdir, { path: '/y' }),
    ada.upload('/y', 'y'),
    ada.call(fs.copy, { from: '/x', to: '/y' }),
    ada.call(fs.move, { from: '/x', to: '/new/x' }),
    ada.call(fs.write, { path: '/y', content: 'y' }),
    ada.call(trash.actions.restore, { id: entry!.id }),
  ]
  for (const reply of refused) expect(await outcome(reply)).toEqual([413, 'too_many_files'])
  const batch = await ada.ask(files_batch, { operations: [{ op: 'mkdir', path: '/y' }] })
  expect(batch.results[0]!.code).toBe('too_many_files')
  // Others have their own bound, and what is there can be changed, moved and removed.
  await grace.put('/y', 'y')
  await ada.put('/x', 'changed')
  await ada.ask(fs.move, { from: '/x', to: '/a/x' })
  await ada.ask(fs.trash, { path: '/a/x' })
  await ada.ask(trash.actions.restore, { id: entry!.id })
  expect((await ada.manifest()).files.map(({ path }) => path)).toEqual(['/a/b/c'])
})

describe('the disk', () => {
  const LARGE = 200_000

  test('is kept from uploads of which more arrives than there is room for', async () => {
    const ada = await server.account({ quota: 2 * LARGE })
    const before = await blobsOf(server.dataDir)
    const large = (seed: number) => bytesOf(LARGE, seed)
    const chunked = (bytes: Buffer) => ({ body: Readable.from([bytes]), duplex: 'half' as const })
    const reply = await fetch(`${server.url}${syncFiles.path}?action=upload&path=/a`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/octet-stream' },
      ...chunked(Buffer.concat([large(1), large(2), large(3)])),
    })
    expect(await reply.json()).toMatchObject({ code: 'quota_exceeded' })
    expect(await blobsOf(server.dataDir)).toHaveLength(before.length)
  })

  test('keeps of an account as many overwritten files as it may have files, the newest', async () => {
    const ada = await server.account()
    await server.set('files.max_nodes', 3)
    onTestFinished(() => server.set('files.max_nodes', undefined))
    for (let round = 1; round <= 6; round += 1) await ada.put('/file', `round ${round}`)
    // A history that takes long to sum up is trimmed by a later write.
    await expect
      .poll(async () => {
        await ada.put('/file', 'round 7')
        return (await ada.ask(versions.actions.list, { path: '/file' })).versions.map((one) => one.sha256)
      })
      .toEqual([7, 6, 5, 4].map((round) => sha256Of(`round ${round}`)))
    expect(await flaws()).toEqual([])
  })

  test('keeps of what is deleted and overwritten half of the quota, the newest', async () => {
    const ada = await server.account({ quota: 4 * LARGE })
    for (let round = 1; round <= 5; round += 1) await ada.put('/file', bytesOf(LARGE, 10 + round))
    const listed = async () =>
      (await ada.ask(versions.actions.list, { path: '/file' })).versions.map((one) => one.sha256)
    const hashes = (...rounds: number[]) => rounds.map((round) => sha256Of(bytesOf(LARGE, 10 + round)))
    expect(await listed()).toEqual(hashes(5, 4, 3))

    server.clock.pass(1_000)
    await ada.ask(fs.trash, { path: '/file' })
    await server.set('quota.history', 0.25)
    onTestFinished(() => server.set('quota.history', undefined))
    await ada.put('/other', bytesOf(LARGE, 20))
    await ada.ask(fs.trash, { path: '/other' })
    expect((await items(ada)).map(({ path }) => path)).toEqual(['/other'])
    const rows = await server.database.read.q
      .selectFrom('versions')
      .select('id')
      .where('user_id', '=', ada.id)
      .execute()
    expect([rows, await flaws()]).toEqual([[], []])
  })
})
