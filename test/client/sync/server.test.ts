import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { serverOfTest, type TestServer } from '../../support/server.ts'
import { clientOf, readTree, write, type Client } from './bench.ts'

// Two folders and a real server.

async function two(server?: TestServer): Promise<[Client, Client]> {
  const running = server ?? (await serverOfTest())
  const account = await running.account()
  const other = await account.another()
  return [await clientOf(account, running.url), await clientOf(other, running.url, { device: 'Desktop' })]
}

test('what one folder has the other gets, with its times, and afterwards nobody does anything', async () => {
  const [one, other] = await two()
  write(one.root, 'a.txt', 'a', 1_500_000_000)
  write(one.root, 'deep/er/\u00e4 b&c?#%.txt', 'odd name')
  write(one.root, 'empty.bin', '')
  write(one.root, 'big.bin', 'x'.repeat(3_000_000))
  await one.sync()
  expect(await other.sync()).toMatchObject({ in_sync: true, downloaded: { files: 4 } })
  expect(readTree(other.root)).toEqual(readTree(one.root))
  expect((await stat(join(other.root, 'a.txt'))).mtimeMs).toBe(1_500_000_000_000)

  await one.sync()
  for (const client of [one, other])
    expect(await client.sync()).toMatchObject({ requests: 1, hashed: 0, in_sync: true })
})

test('both edit one file: the second to synchronise gets the conflict copy, and both end with both versions', async () => {
  const [one, other] = await two()
  write(one.root, 'plan.txt', 'first')
  await one.sync()
  await other.sync()
  write(one.root, 'plan.txt', 'of one')
  write(other.root, 'plan.txt', 'of the other')
  await one.sync()
  const { conflicts } = await other.sync()
  await one.sync()
  expect(conflicts).toHaveLength(1)
  expect(readTree(one.root)).toEqual({ '/plan.txt': 'of one', [conflicts[0]!.copy]: 'of the other' })
  expect(readTree(other.root)).toEqual(readTree(one.root))
})

test('folders, deletions and changes of kind arrive', async () => {
  const [one, other] = await two()
  for (const name of ['a/1', 'a/2', 'b/c/3', 'file', 'keep']) write(one.root, name, name)
  await one.sync()
  await other.sync()
  rmSync(join(one.root, 'a'), { recursive: true })
  rmSync(join(one.root, 'file'))
  write(one.root, 'file/now a folder', 'x')
  rmSync(join(other.root, 'b'), { recursive: true })
  write(other.root, 'b', 'now a file')
  await one.sync()
  expect(await other.sync()).toMatchObject({ conflicts: [], skipped: [] })
  await one.sync()
  expect(readTree(one.root)).toEqual({ '/b': 'now a file', '/file': null, '/file/now a folder': 'x', '/keep': 'keep' })
  expect(readTree(other.root)).toEqual(readTree(one.root))
})

test('a folder of 1,000 files that gets another name, and another one back, is one request each time', async () => {
  const [one, other] = await two()
  for (let at = 0; at < 1_000; at += 1) write(one.root, `photos/${at % 10}/${at}.jpg`, `picture ${at}`)
  // Until both know the account by the ids of its files.
  for (const client of [one, other, one, other]) {
    write(client.root, 'news.txt', client === one ? 'of one' : 'of the other')
    await client.sync()
  }
  await one.sync()
  mkdirSync(join(one.root, 'archive'))
  renameSync(join(one.root, 'photos'), join(one.root, 'archive/2026'))
  // The move, and the listing before it.
  expect(await one.sync()).toMatchObject({ requests: 2, hashed: 0, moved_there: 1, uploaded: { files: 0 } })
  renameSync(join(other.root, 'photos/3'), join(other.root, 'threes'))
  expect(await other.sync()).toMatchObject({ requests: 2, hashed: 0, moved_here: 1, moved_there: 1 })
  expect(await one.sync()).toMatchObject({ requests: 1, hashed: 0, moved_here: 1, downloaded: { files: 0 } })
  expect(readTree(one.root)).toEqual(readTree(other.root))
  expect(Object.keys(readTree(one.root))).toContain('/threes/13.jpg')
  for (const client of [one, other, one]) expect(await client.sync()).toMatchObject({ requests: 1, in_sync: true })
})

test('names that were swapped here are swapped on the server and in the other folder', async () => {
  const [one, other] = await two()
  for (const name of ['a', 'b', 'd/1', 'd/2', 'e/3']) write(one.root, name, name)
  await one.sync()
  await other.sync()
  for (const [from, to] of [
    ['a', 'aside'],
    ['b', 'a'],
    ['aside', 'b'],
    ['d', 'aside'],
    ['e', 'd'],
    ['aside', 'e'],
  ] as const) {
    renameSync(join(one.root, from), join(one.root, to))
  }
  const nothingSent = { uploaded: { files: 0 }, downloaded: { files: 0 }, conflicts: [], skipped: [] }
  expect(await one.sync()).toMatchObject({ ...nothingSent, moved_there: 4 })
  expect(await other.sync()).toMatchObject({ ...nothingSent, moved_here: 4 })
  expect(readTree(other.root)).toEqual({
    '/a': 'b',
    '/b': 'a',
    '/d': null,
    '/d/3': 'e/3',
    '/e': null,
    '/e/1': 'd/1',
    '/e/2': 'd/2',
  })
  for (const client of [one, other]) expect(await client.sync()).toMatchObject({ requests: 1, in_sync: true })
})

test('a quota that is full is reported, and the rest goes through', async () => {
  const server = await serverOfTest()
  const account = await server.account({ quota: 1_000 })
  const client = await clientOf(account, server.url)
  write(client.root, 'big.bin', 'x'.repeat(2_000))
  write(client.root, 'small.txt', 'small')
  expect(await client.sync()).toMatchObject({ uploaded: { files: 1 }, skipped: [{ path: '/big.bin', code: 'quota' }] })
})

test('two spellings of one name, made on two machines, are one file', async () => {
  const [one, other] = await two()
  write(one.root, 'caf\u00e9/x.txt', 'same')
  write(other.root, 'cafe\u0301/x.txt', 'same')
  write(other.root, 'cafe\u0301/y.txt', 'more')
  await one.sync()
  expect(await other.sync()).toMatchObject({ conflicts: [], skipped: [] })
  await one.sync()
  expect(Object.keys(readTree(one.root))).toEqual(['/caf\u00e9', '/caf\u00e9/x.txt', '/caf\u00e9/y.txt'])
  expect(Object.keys(readTree(other.root))).toEqual(['/cafe\u0301', '/cafe\u0301/x.txt', '/cafe\u0301/y.txt'])
})

test("the server's own limits are kept: nothing is refused, however much there is to do", async () => {
  const server = await serverOfTest({ limits: true })
  await server.set('limits.sync_upload_batch', 2)
  const client = await clientOf(await server.account(), server.url)
  server.clock.pass(client.time.now - server.clock.now())
  const waited: number[] = []
  const throttled = { ...client, sync: client.sync }
  for (let at = 0; at < 250; at += 1) write(client.root, `${at}.txt`, `${at}`)
  // Both clocks are one: waiting here is waiting there.
  const pass = client.slept.push.bind(client.slept)
  client.slept.push = (...ms) => {
    for (const each of ms) server.clock.pass(each)
    waited.push(...ms)
    return pass(...ms)
  }
  expect(await throttled.sync()).toMatchObject({ uploaded: { files: 250 }, in_sync: true })
  expect(waited).toEqual([60_150])
})

// One or two paths, two people, random turns (Hughes, Pierce et al. 2016): whatever anybody wrote is in the end still there, or was
// overwritten or deleted by somebody who had seen it.

type Turn = { who: 0 | 1; what: 'write' | 'remove' | 'rename' | 'sync'; name: string }

const turn: fc.Arbitrary<Turn> = fc.record({
  who: fc.constantFrom(0 as const, 1 as const),
  what: fc.constantFrom(
    'write' as const,
    'write' as const,
    'rename' as const,
    'rename' as const,
    'remove' as const,
    'sync' as const,
    'sync' as const,
  ),
  name: fc.constantFrom('a', 'b', 'd/a'),
})

test('nothing that somebody wrote is lost to somebody who did not know of it', { timeout: 300_000 }, async () => {
  const server = await serverOfTest()
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 4, maxLength: 14 }), async (turns) => {
      const clients = await two(server)
      let count = 0
      const alive = new Set<string>()
      for (const { who, what, name } of turns) {
        const { root, sync } = clients[who]
        if (what === 'sync') await sync({ maxDelete: 'any' })
        else {
          // What they see they may do away with; what they have not seen they cannot mean.
          const seen = readTree(root)[`/${name}`]
          if (what === 'rename') {
            const to = join(root, name === 'a' ? 'c' : 'a')
            if (seen !== undefined && !existsSync(to)) renameSync(join(root, name), to)
            continue
          }
          if (typeof seen === 'string') alive.delete(seen)
          if (what === 'remove') rmSync(join(root, name), { force: true })
          else {
            write(root, name, `words ${(count += 1)}`)
            alive.add(`words ${count}`)
          }
        }
      }
      for (const client of [...clients, ...clients, ...clients]) await client.sync({ maxDelete: 'any' })
      const [one, other] = clients.map(({ root }) => readTree(root))
      expect(one).toEqual(other)
      const there = new Set(Object.values(one!))
      for (const words of alive) expect(there).toContain(words)
    }),
    { numRuns: Number(process.env['SYNC_RUNS'] ?? 25) },
  )
})
