import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeApi } from '../../../src/client/api.ts'
import { makeNodeTransport } from '../../../src/client/http/node-transport.ts'
import { currentListing } from '../../../src/client/sync/remote/remote-listing.ts'
import { makeThrottle } from '../../../src/client/http/throttle.ts'
import { fetchListing } from '../../../src/client/sync/remote/manifest.ts'
import { openState } from '../../../src/client/sync/state/sync-state.ts'
import { Unreachable } from '../../../src/client/errors.ts'
import { contract } from '../../../src/contract/contract.ts'
import { fault } from '../../../src/contract/errors.ts'
import { serverOfTest } from '../../support/server.ts'
import { makeBench, NOW, readTree, temporaryFolder, write, type Bench } from './bench.ts'
import { FakeServer, type Mischief } from './fake-server.ts'

// After the first run the change feed says what is new on the server; the listing is asked for when the feed cannot be believed.

const actions = (server: FakeServer): string[] => server.log.map((line) => line.split(' ')[0]!)

/** A folder in step with a server that has a feed, whose ids are known. */
async function following(): Promise<Bench> {
  const server = new FakeServer()
  server.features = { files_feed: true }
  const bench = await makeBench({ server })
  for (const name of ['a.txt', 'd/b.txt', 'd/e/c.txt']) write(bench.root, name, name)
  await bench.sync()
  server.log.length = 0
  expect(await bench.sync()).toMatchObject({ uploaded: { files: 0 }, downloaded: { files: 0 }, hashed: 0 })
  expect(actions(server)).toEqual(['delta', 'initial_sync'])
  server.log.length = 0
  return bench
}

const all = { '/a.txt': 'a.txt', '/d': null, '/d/b.txt': 'd/b.txt', '/d/e': null, '/d/e/c.txt': 'd/e/c.txt' }

const answering =
  (action: string, answer: (params: Record<string, unknown>) => unknown): Mischief =>
  (name, params) =>
    name === action ? answer(params) : undefined

test('a run with nothing to do is one question to the feed, however the account was learned', async () => {
  const { server, sync } = await following()
  expect(await sync()).toMatchObject({ requests: 1, hashed: 0, in_sync: true })
  const other = await makeBench({ server })
  await other.sync()
  server.log.length = 0
  expect(await other.sync()).toMatchObject({ requests: 1, hashed: 0, in_sync: true })
  expect(actions(server)).toEqual(['delta'])
})

test('what changed on the server comes with the feed alone, and our own changes come back as nothing new', async () => {
  const { root, server, sync } = await following()
  server.put('/a.txt', 'theirs')
  server.remove('/d/e')
  server.mkdir('/new/folder')
  write(root, 'mine.txt', 'mine')
  await sync()
  const both = { '/a.txt': 'theirs', '/d': null, '/d/b.txt': 'd/b.txt', '/mine.txt': 'mine' }
  expect(readTree(root)).toEqual({ ...both, '/new': null, '/new/folder': null })
  expect(readTree(root)).toEqual(server.tree())
  expect(actions(server)).toEqual(['delta', 'download', 'upload'])
  server.log.length = 0
  const before = readTree(root)
  expect(await sync()).toMatchObject({ hashed: 0, in_sync: true })
  expect(actions(server)).toEqual(['delta'])
  expect(readTree(root)).toEqual(before)
})

test('a cursor that has expired leads to the listing, and deletions still arrive', async () => {
  const { root, server, sync } = await following()
  server.remove('/d')
  server.oldest = 1_000
  await sync()
  expect(actions(server)).toEqual(['delta', 'manifest'])
  expect(readTree(root)).toEqual({ '/a.txt': 'a.txt' })
})

test('a server that was restored, told or not, is compared again: nothing is deleted, and what it lost is sent again', async () => {
  for (const told of [true, false]) {
    const { root, server, sync, events } = await following()
    server.remove('/d')
    if (told) server.epoch = 'epoch-2'
    else server.mischief = answering('delta', () => Promise.reject(fault('epoch_mismatch')))
    expect(await sync()).toMatchObject({ removed_here: 0, removed_there: 0, uploaded: { files: 2 } })
    expect(events).toContainEqual(expect.objectContaining({ event: 'notice', code: 'server_restored' }))
    expect(readTree(root)).toEqual(all)
    expect(server.tree()).toEqual(all)
  }
})

test('another server behind the same address is refused', async () => {
  const { root, server, sync } = await following()
  server.serverId = 'server-2'
  server.files.clear()
  await expect(sync()).rejects.toMatchObject({ reason: 'other_account' })
  expect(readTree(root)).toEqual(all)
})

const sha256 = 'a'.repeat(64)
const file = { parent_id: null, name: 'x', type: 'file', size: 1, sha256, mtime: 1 }

for (const [what, rows] of [
  ['a name that leads outside', [{ id: 90, ...file, name: '..' }]],
  ['a path for a name', [{ id: 90, ...file, name: 'a/../../x' }]],
  ['a name with control characters', [{ id: 90, ...file, name: 'x\u001b[2J' }]],
  ['a parent that nobody knows', [{ id: 90, ...file, parent_id: 4_711 }]],
  ['a file in a file', [{ id: 90, ...file }, { id: 91, ...file, parent_id: 90 }]], // prettier-ignore
  ['a folder in itself', [{ id: 90, parent_id: 90, name: 'x', type: 'directory' }]],
  [
    'folders in a circle',
    [
      { id: 90, parent_id: 91, name: 'x', type: 'directory' },
      { id: 91, parent_id: 90, name: 'y', type: 'directory' },
    ],
  ],
  ['one name twice', [{ id: 90, ...file }, { id: 91, ...file }]], // prettier-ignore
  ['a size that is none', [{ id: 90, ...file, size: -1 }]],
  ['a hash that is none', [{ id: 90, ...file, sha256: 'zz' }]],
  ['no id', [file]],
  ['nothing', [null]],
] as const) {
  test(`a feed that sends ${what} is not believed: the listing is`, async () => {
    const { root, server, sync } = await following()
    server.put('/a.txt', 'theirs')
    const deletions = [1, 2, 3, 4, 5].map((id) => ({ operation: 'DELETE', data: { id } }))
    const changes = [...deletions, ...rows.map((data) => ({ operation: 'INSERT', data }))]
    server.mischief = answering('delta', () => ({
      ok: true,
      changes: changes.map((change) => ({ table: 'svc_files', cursor: 99, ...change })),
      cursor: 99,
      has_more: false,
      epoch: server.epoch,
      server_id: server.serverId,
    }))
    expect(await sync()).toMatchObject({ removed_here: 0, in_sync: true })
    expect(actions(server)).toEqual(['delta', 'manifest', 'download'])
    expect(readTree(root)).toEqual({ ...all, '/a.txt': 'theirs' })
    // For a day the listing is asked for instead.
    server.mischief = undefined
    server.log.length = 0
    await sync()
    expect(actions(server)).toEqual(['manifest'])
  })
}

for (const [what, page] of [
  ['goes backwards', { cursor: 0, has_more: false, changes: [] }],
  ['does not move', { cursor: undefined, has_more: true, changes: [] }],
  ['is none', { cursor: 'x', has_more: false, changes: [] }],
  ['comes without changes', { cursor: 99, has_more: false }],
] as const) {
  test(`a cursor that ${what} is not followed`, async () => {
    const { root, server, sync } = await following()
    server.mischief = answering('delta', (params) => ({
      ok: true,
      cursor: params['cursor'],
      epoch: server.epoch,
      server_id: server.serverId,
      ...Object.fromEntries(Object.entries(page).filter(([, value]) => value !== undefined)),
    }))
    expect(await sync()).toMatchObject({ removed_here: 0, removed_there: 0, in_sync: true })
    expect(actions(server)).toEqual(['delta', 'manifest'])
    expect(readTree(root)).toEqual(all)
  })
}

test('a feed that breaks off goes on where it was, and nothing is done before its end', async () => {
  const { root, server, sync } = await following()
  server.put('/1.txt', 'one')
  server.put('/2.txt', 'two')
  rmSync(join(root, 'a.txt'))
  const asked: unknown[] = []
  server.mischief = answering('delta', (params) => {
    asked.push(params['cursor'])
    params['limit'] = 1
    if (asked.length > 1) throw new Unreachable('gone')
    return undefined
  })
  await expect(sync()).rejects.toBeInstanceOf(Unreachable)
  expect(server.tree()).toHaveProperty(['/a.txt'])
  expect(readTree(root)).not.toHaveProperty(['/1.txt'])
  server.mischief = answering('delta', (params) => void asked.push(params['cursor']))
  await sync()
  expect(asked.at(-1)).toBe(asked[1])
  expect(asked[1]).not.toBe(asked[0])
  expect(readTree(root)).toEqual(server.tree())
  expect(actions(server)).not.toContain('manifest')
})

// A real server, where another device does at random what can be done; the fetched listing is the oracle.

type Turn = { what: 'put' | 'delete' | 'mkdir' | 'move' | 'look'; from: string; to: string }

const path = fc
  .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })
  .map((names) => `/${names.join('/')}`)
const turn: fc.Arbitrary<Turn> = fc.record({
  what: fc.constantFrom('put', 'put', 'mkdir', 'move', 'move', 'delete', 'look'),
  from: path,
  to: path,
})

test('the tree that the feed makes is the one of the listing, whatever happens on the server', async () => {
  const server = await serverOfTest()
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 25 }), async (turns) => {
      const account = await server.account()
      const other = await account.another()
      const api = makeApi({ url: server.url, token: account.token, transport: makeNodeTransport() })
      const { server_id, features } = await api.call(contract.syncStatus.actions.capabilities, {})
      const { state } = openState(join(temporaryFolder(), 'state.db'), { root_id: 'r', server_id, user_id: account.id })
      const asked: string[] = []
      const { throttle } = makeThrottle({
        limits: () => ({}),
        calls: {},
        clock: { now: () => NOW },
        sleep: () => Promise.resolve(),
      })
      try {
        state.set('server', { limits: {}, features })
        const registered = {
          server_id,
          root_id: 'r',
          user_id: account.id,
          path: '',
          url: '',
          username: '',
          device_name: '',
        }
        const look = async (): Promise<void> => {
          const {
            nodes,
            wasRestored: anew,
            rejected,
          } = await currentListing({
            root: { registered },
            state,
            api,
            throttle: (action, request) => {
              asked.push(action.limit)
              return throttle(action, request)
            },
            clock: { now: () => NOW },
            signal: new AbortController().signal,
            report: { notice: () => undefined },
          })
          const fetched = await fetchListing(api, throttle, undefined)
          const sorted = (listed: typeof nodes): unknown =>
            [...listed].toSorted((one, two) => (one.path < two.path ? -1 : 1))
          expect(sorted(nodes)).toEqual(sorted(fetched.unchanged ? [] : fetched.listing.nodes))
          expect({ anew, rejected }).toEqual({ anew: false, rejected: [] })
        }
        const { mkdir, move, delete: remove } = contract.syncFiles.actions
        await look()
        for (const { what, from, to } of turns) {
          if (what === 'put') await other.upload(from, `${from} ${to}`)
          else if (what === 'mkdir') await other.call(mkdir, { path: from })
          else if (what === 'move') await other.call(move, { from, to })
          else if (what === 'delete') await other.call(remove, { path: from })
          else await look()
        }
        await look()
        expect(asked.filter((limit) => limit === 'sync_manifest')).toHaveLength(1)
        expect(asked.filter((limit) => limit === 'sync_initial_sync').length).toBeLessThanOrEqual(1)
      } finally {
        state.close()
        api.close()
      }
    }),
    { numRuns: 12 },
  )
})
