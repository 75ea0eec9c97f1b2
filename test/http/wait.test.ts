import { describe, expect, test } from 'vitest'
import { syncData } from '../../src/contract/sync-data.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { openLocal } from '../../src/wiring/local-domain.ts'
import type { Account } from '../support/account.ts'
import { serverOfFile, startServer, type TestServer } from '../support/server.ts'

const { delta } = syncData.actions

const server = await serverOfFile()

const note = { table: 'svc_notes', operation: 'INSERT', data: { title: 'Tea' } }

/** Requests that have arrived in the domain and are held there; each promise is over when its request is let go. */
function arrivals({ local }: TestServer) {
  const { sync } = local.domain
  const real = sync.changesSince
  const seen: Promise<unknown>[] = []
  const heard: (() => void)[] = []
  sync.changesSince = (...args) => {
    const held = real(...args)
    seen.push(held)
    for (const tell of heard.splice(0)) tell()
    return held
  }
  return {
    seen,
    next: () => new Promise<void>((resolve) => heard.push(resolve)),
    restore: () => void (sync.changesSince = real),
  }
}

/** Waits for news, and does something once the request has arrived. */
async function whileWaiting(account: Account, cursor: number, wait: number, then: () => Promise<unknown>) {
  const { next, restore } = arrivals(server)
  const arrived = next()
  const started = performance.now()
  const answer = account.delta(cursor, { wait })
  await arrived
  await then()
  const page = await answer
  restore()
  return { page, ms: performance.now() - started }
}

describe('a request that waits', () => {
  test('is answered at once when there is something to tell', async () => {
    const account = await server.account()
    await account.push(note)
    const started = performance.now()
    expect(await account.delta(0, { wait: 55 })).toMatchObject({ count: 1, cursor: 1 })
    expect(performance.now() - started).toBeLessThan(55_000)
  })

  test('is answered with what another device pushes meanwhile', async () => {
    const account = await server.account()
    const other = await account.another()
    const { page, ms } = await whileWaiting(account, 0, 55, () => other.push(note))
    expect(page).toMatchObject({
      changes: [{ operation: 'INSERT', data: { title: 'Tea' } }],
      cursor: 1,
      has_more: false,
    })
    expect(ms).toBeLessThan(55_000)
  })

  test.each([
    ['an upload', (account: Account) => account.put('/x.txt', 'x')],
    ['a new folder', (account: Account) => account.ask(syncFiles.actions.mkdir, { path: '/new' })],
    ['a move', (account: Account) => account.ask(syncFiles.actions.move, { from: '/old.txt', to: '/older.txt' })],
    ['a deletion', (account: Account) => account.ask(syncFiles.actions.delete, { path: '/old.txt' })],
  ])('is answered with %s', async (_, change) => {
    const account = await server.account()
    const { cursor } = await account.put('/old.txt', 'old')
    const { page, ms } = await whileWaiting(account, cursor, 55, () => change(account))
    expect(page).toMatchObject({ changes: [{ table: 'svc_files' }], cursor: cursor + 1 })
    expect(ms).toBeLessThan(55_000)
  })

  test('is answered with what another process writes, within about a second', async () => {
    const account = await server.account()
    const other = await openLocal({ dataDir: server.dataDir, env: server.env, clock: server.clock })
    const { page, ms } = await whileWaiting(account, 0, 55, () =>
      other.domain.sync.push(account.id, { operations: [note] }),
    )
    await other.close()
    expect(page).toMatchObject({ changes: [{ data: { title: 'Tea' } }], cursor: 1 })
    expect(ms).toBeLessThan(55_000)
  })

  test('is not disturbed by what others do, and is told so when its time is over', async () => {
    const account = await server.account()
    await account.push(note)
    const stranger = await server.account()
    const { page, ms } = await whileWaiting(account, 1, 1, () => stranger.push(note))
    expect(page).toMatchObject({ changes: [], cursor: 1, count: 0, has_more: false })
    expect(ms).toBeGreaterThan(990)
  })

  test('is let go when its client hangs up', async () => {
    const account = await server.account()
    const { seen, next, restore } = arrivals(server)
    const arrived = next()
    const controller = new AbortController()
    const answer = account.call(delta, { cursor: 0, wait: 55 }, { signal: controller.signal })
    await arrived
    controller.abort()
    await expect(answer).rejects.toThrow('abort')
    expect(await seen[0]).toMatchObject({ changes: [], cursor: 0 })
    restore()
  })

  test('waits at most 55 seconds, by contract', async () => {
    const account = await server.account()
    for (const wait of ['56', '-1', '1.5', 'x', '']) {
      const reply = await account.call(delta, { cursor: 0, wait })
      expect([wait, reply.status, reply.json['code']]).toEqual([wait, 400, 'bad_request'])
    }
    expect(await account.delta(0, { wait: 0 })).toMatchObject({ count: 0 })
  })

  test('is answered when the server stops, which waits for nobody', async () => {
    const own = await startServer()
    const account = await own.account()
    const { next } = arrivals(own)
    const arrived = next()
    const answer = account.delta(0, { wait: 55 })
    await arrived
    const started = performance.now()
    await Promise.all([own.close(), expect(answer).resolves.toMatchObject({ changes: [], cursor: 0 })])
    expect(performance.now() - started).toBeLessThan(55_000)
  })
})
