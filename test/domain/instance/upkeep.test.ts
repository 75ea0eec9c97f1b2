import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { generateSync } from 'otplib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { DAY, HOUR, iso } from '../../../src/base/clock.ts'
import { INLINE_MAX } from '../../../src/storage/contents/contents.ts'
import { openLocal } from '../../../src/wiring/local-domain.ts'
import { runCommand } from '../../support/command.ts'
import { blobsOf, bytesOf, sha256Of } from '../../support/contents.ts'
import { makeClock } from '../../support/clock.ts'
import { rowsAndCursorOf } from '../../support/everything.ts'
import { folderOfTest } from '../../support/server.ts'
import { addUser, openForTest } from '../../support/storage.ts'

const nothing = { tombstones: 0, trash: 0, versions: 0, contents: 0, bytes: 0 }

/** A domain whose clock begins so long ago that all it makes is old by the clock of the machine, which the collector heeds too. */
async function world() {
  const dataDir = await folderOfTest()
  const clock = makeClock(Date.now() - 400 * DAY)
  const { domain, close } = await openLocal({ dataDir, env: {}, clock })
  onTestFinished(close)
  const database = openForTest(join(dataDir, 'svc.db'))
  const user = await addUser(database, 'ada')
  const { files } = domain
  return {
    dataDir,
    domain,
    clock,
    user,
    database,
    upkeep: domain.instance.upkeep,
    async put(path: string, content: Uint8Array) {
      const staged = await files.receive(Readable.from([content]))
      await files.write(user, path, { staged, claimed: {}, expectation: {} })
      const blob = join(dataDir, 'blobs', staged.sha256.slice(0, 2), staged.sha256.slice(2, 4), staged.sha256)
      if (staged.data === null) await utimes(blob, clock.now() / 1_000, clock.now() / 1_000)
      return staged.sha256
    },
    remove: (path: string) => files.remove(user, path, {}),
    count: async (table: 'nodes' | 'versions' | 'trash' | 'contents' | 'pushed_operations' | 'idempotency_keys') =>
      Number(
        (
          await database.read.q
            .selectFrom(table)
            .select(({ fn }) => fn.countAll().as('count'))
            .executeTakeFirstOrThrow()
        ).count,
      ),
  }
}

test('finds nothing to do where nothing is old', async () => {
  const { upkeep, put, remove, clock } = await world()
  expect(await upkeep()).toEqual(nothing)
  await put('/a', bytesOf(10))
  await put('/a', bytesOf(10, 2))
  await remove('/a')
  for (const days of [28, 1]) {
    clock.pass(days * DAY)
    expect(await upkeep()).toMatchObject(nothing)
  }
})

describe.each([
  ['small', 1_000],
  ['large', INLINE_MAX + 1_000],
])('what was deleted or replaced (%s)', (_, size) => {
  test('stays for 30 days, to the millisecond, and goes then with its bytes', async () => {
    const { upkeep, put, remove, clock, count, dataDir } = await world()
    await put('/kept', bytesOf(size, 1))
    await put('/replaced', bytesOf(size, 2))
    await put('/replaced', bytesOf(size, 3))
    await put('/folder/deleted', bytesOf(size, 4))
    await put('/folder/deleted', bytesOf(size, 5))
    await remove('/folder')
    clock.pass(30 * DAY)
    expect(await upkeep()).toEqual(nothing)
    expect([await count('trash'), await count('versions'), await count('contents')]).toEqual([1, 2, 5])
    clock.pass(1)
    // The version of the deleted file goes with the file.
    expect(await upkeep()).toEqual({ tombstones: 0, trash: 1, versions: 1, contents: 3, bytes: 3 * size })
    expect([await count('trash'), await count('versions'), await count('contents'), await count('nodes')]).toEqual([
      0, 0, 2, 3,
    ])
    expect(await blobsOf(dataDir)).toHaveLength(size > INLINE_MAX ? 2 : 0)
    expect(await upkeep()).toEqual(nothing)
  })

  test('keeps bytes that another file still has', async () => {
    const { upkeep, put, remove, clock, domain, user } = await world()
    const content = bytesOf(size)
    await put('/a', content)
    await put('/b', content)
    await put('/c', content)
    await remove('/a')
    await put('/b', bytesOf(10, 2))
    clock.pass(31 * DAY)
    expect(await upkeep()).toEqual({ ...nothing, trash: 1, versions: 1 })
    const { sha256 } = await domain.files.facts(user, '/c')
    const chunks: Uint8Array[] = []
    for await (const chunk of Readable.from(await domain.files.read(sha256)))
      chunks.push(Buffer.from(chunk as Uint8Array))
    expect(sha256Of(Buffer.concat(chunks))).toBe(sha256Of(content))
  })
})

test('a setting says for how long', async () => {
  const { upkeep, put, remove, clock, domain, count } = await world()
  await domain.instance.settings.store('retention.versions_days', 2)
  await domain.instance.settings.store('retention.tombstones_days', 1)
  await put('/a', bytesOf(10))
  await remove('/a')
  clock.pass(DAY + 1)
  expect(await upkeep()).toEqual({ ...nothing, tombstones: 1 })
  clock.pass(DAY)
  expect(await upkeep()).toEqual({ ...nothing, trash: 1, contents: 1, bytes: 10 })
  expect(await count('nodes')).toBe(1)
})

test('a trash entry that goes takes along what was deleted out of it before', async () => {
  const { upkeep, put, remove, clock, count } = await world()
  await put('/a/b/1', bytesOf(10, 1))
  await put('/a/2', bytesOf(10, 2))
  await remove('/a/b')
  clock.pass(DAY)
  await remove('/a')
  clock.pass(30 * DAY)
  expect(await upkeep()).toMatchObject({ trash: 1, contents: 1 })
  clock.pass(1)
  expect(await upkeep()).toMatchObject({ trash: 1, contents: 1 })
  expect([await count('nodes'), await count('trash')]).toEqual([1, 0])
})

test('pushes are recognised for 30 days', async () => {
  const { upkeep, clock, domain, user, count } = await world()
  const operation = { table: 'svc_notes', operation: 'INSERT', data: { title: 'Tea' }, op_id: randomUUID() }
  const push = async (key: string) =>
    (await domain.sync.push(user, { operations: [operation] }, key)).results[0]!.status
  expect(await push('key')).toBe('applied')
  clock.pass(30 * DAY)
  await upkeep()
  expect([await push('key'), await push('other')]).toEqual(['applied', 'duplicate'])
  clock.pass(1)
  await upkeep()
  expect([await count('pushed_operations'), await count('idempotency_keys')]).toEqual([0, 1])
  expect(await push('key')).toBe('applied')
})

test('what is gone for good is gone from the feed and the usage too', async () => {
  const { upkeep, put, remove, clock, domain, user } = await world()
  await put('/a', bytesOf(10))
  await put('/b', bytesOf(20))
  await remove('/a')
  clock.pass(181 * DAY)
  expect(await upkeep()).toMatchObject({ tombstones: 1, trash: 1 })
  expect((await domain.files.desktop.quota(user)).used).toBe(20)
  const { data, cursor } = await rowsAndCursorOf(domain.sync, user)
  expect([data['svc_files']!.map((row) => row['name']), cursor]).toEqual([['b'], 3])
  const page = await domain.sync.changesSince(user, { cursor: 3 }, () => new AbortController().signal)
  expect(page.changes).toEqual([])
})

test('forgets tokens and bypass codes that are over, and no others', async () => {
  const { upkeep, domain, database, user, clock } = await world()
  const { accounts } = domain
  const { secret } = await accounts.twoFactor.setUp(user, 'svc')
  await accounts.twoFactor.enable(user, generateSync({ secret, epoch: Math.floor(clock.now() / 1_000) }))
  const grace = await addUser(database, 'grace')
  await database.write('instance', (tx) =>
    tx.q
      .insertInto('bypass_codes')
      .values({ user_id: grace, hash: 'x', expires_at: clock.now() + HOUR })
      .execute(),
  )
  const short = await accounts.mintToken(user, { ttl: HOUR - 1 })
  const long = await accounts.mintToken(user, { ttl: HOUR })
  await accounts.twoFactor.bypass(user, HOUR - 1)
  const left = async () => {
    const tokens = await database.read.q.selectFrom('device_tokens').select('id').orderBy('id').execute()
    const codes = await database.read.q.selectFrom('bypass_codes').select('user_id').orderBy('user_id').execute()
    return [tokens.map(({ id }) => id), codes.map(({ user_id }) => user_id)]
  }
  await upkeep()
  expect(await left()).toEqual([
    [short.token_id, long.token_id],
    [user, grace],
  ])
  clock.pass(HOUR - 1)
  await upkeep()
  expect(await left()).toEqual([[long.token_id], [grace]])
})

test('a tree that can never be removed is told of, and keeps nothing else from being done', async () => {
  const { upkeep, put, remove, clock, user, database, domain, count } = await world()
  const other = await addUser(database, 'bob')
  await put('/stuck', bytesOf(10, 1))
  await remove('/stuck')
  const staged = await domain.files.receive(Readable.from([bytesOf(10, 2)]))
  await domain.files.write(other, '/gone', { staged, claimed: {}, expectation: {} })
  await domain.files.remove(other, '/gone', {})
  await put('/kept', bytesOf(10, 3))
  await put('/kept', bytesOf(10, 4))
  await database.write('instance', (tx) =>
    sql
      .raw(
        `create trigger stuck before delete on nodes when old.user_id = ${user}
          begin select raise(abort, 'This one stays.'); end`,
      )
      .execute(tx.q),
  )
  clock.pass(31 * DAY)
  await expect(upkeep()).rejects.toThrow('This one stays.')
  expect(await database.read.q.selectFrom('nodes').select('name').where('trash_id', 'is not', null).execute()).toEqual([
    { name: 'stuck' },
  ])
  expect(await count('versions')).toBe(0)
  // What was stuck, and what is kept.
  expect(await count('contents')).toBe(2)
})

describe('a clock that jumps ahead', () => {
  test('expires nothing until a run a day later agrees; doctor and gc say so', async () => {
    const { dataDir, upkeep, put, remove, count, clock, domain } = await world()
    await put('/gone', bytesOf(10))
    await remove('/gone')
    expect(await upkeep()).toEqual(nothing)
    clock.pass(400 * DAY)
    const { postponed } = await upkeep()
    expect(postponed).toMatchObject({ after: clock.now(), until: clock.now() + DAY })
    clock.pass(HOUR)
    expect((await upkeep()).postponed).toEqual(postponed)

    const refused = await runCommand(dataDir, 'storage', 'gc')
    expect(refused).toMatchObject({
      code: 8,
      stdout: '',
      stderr: expect.stringContaining(iso(postponed!.until)) as string,
    })
    const { stdout } = await runCommand(dataDir, 'doctor', '--json')
    const { checks } = JSON.parse(stdout) as { checks: { id: string; health: string; found: string }[] }
    expect(checks.find(({ id }) => id === 'clock')).toMatchObject({
      health: 'warning',
      found: expect.stringContaining(iso(postponed!.until)) as string,
    })
    expect(await count('trash')).toBe(1)

    clock.pass(DAY)
    expect(await upkeep()).toMatchObject({ trash: 1 })
    expect(await domain.instance.clockJump()).toBeUndefined()
  })

  test('and back expires nothing, and leaves nothing behind', async () => {
    const { upkeep, put, remove, count, clock, domain } = await world()
    await put('/gone', bytesOf(10))
    await remove('/gone')
    await upkeep()
    clock.pass(3650 * DAY)
    expect((await upkeep()).postponed).toBeDefined()
    clock.pass(HOUR - 3650 * DAY)
    expect([await upkeep(), await count('trash')]).toEqual([nothing, 1])
    expect(await domain.instance.clockJump()).toBeUndefined()
  })

  test('is not suspected by a server that runs all the time', async () => {
    const { upkeep, put, remove, clock } = await world()
    await put('/gone', bytesOf(10))
    await remove('/gone')
    let trash = 0
    for (let day = 0; day <= 90; day += 1) {
      trash += (await upkeep()).trash
      clock.pass(DAY)
    }
    expect(trash).toBe(1)
  })
})
