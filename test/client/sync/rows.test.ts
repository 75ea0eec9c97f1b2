import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { replicaFile, knownAccount } from '../../../src/client/replica/replica-file.ts'
import { openReplica, type Replica } from '../../../src/client/replica/replica.ts'
import { readStatus } from '../../../src/client/sync/status.ts'
import { serverOfTest } from '../../support/server.ts'
import { edit, note } from '../replica/bench.ts'
import { clientOf, makeBench, NOW, readTree, write, type Client } from './bench.ts'
import { everything, FakeServer } from './fake-server.ts'

// Rows travel with the files of a folder.

const clock = { now: () => NOW }

function rowsOf({ stateFolder, owner }: Client): Replica {
  const { copy } = openReplica(replicaFile(stateFolder, owner), owner, clock)
  onTestFinished(() => copy.close())
  return copy
}

async function two() {
  const server = await serverOfTest()
  const account = await server.account()
  const [one, other] = [await clientOf(account, server.url), await clientOf(await account.another(), server.url)]
  return { server, account, one, other }
}

const titles = (copy: Replica): unknown[] => copy.rows('svc_notes').map(({ title }) => title)

test('one request brings files and rows, and a run without news is no more than that', async () => {
  const { one, other } = await two()
  for (const client of [one, other, one, other]) await client.sync({ rows: true })
  write(one.root, 'a.txt', 'a')
  rowsOf(one).change([note('a')], true)
  expect(await one.sync({ rows: true })).toMatchObject({ rows: { sent: 1, received: 0, waiting: 0 } })
  expect(await other.sync({ rows: true })).toMatchObject({ rows: { sent: 0, received: 1 } })
  expect(readTree(other.root)).toEqual({ '/a.txt': 'a' })
  expect(titles(rowsOf(other))).toEqual(['a'])
  for (const client of [one, other, one, other]) await client.sync({ rows: true })
  for (const client of [one, other]) {
    expect(await client.sync({ rows: true })).toMatchObject({ requests: 1, hashed: 0, in_sync: true })
    const rows = rowsOf(client).place()!.cursor
    expect(await client.sync({ rows: true })).toMatchObject({ requests: 1 })
    expect(rowsOf(client).place()!.cursor).toBe(rows)
  }
})

const wholeAnswers = (log: readonly string[]): string[] =>
  log.map((line) => line.split(' ')[0]!).filter((action) => ['manifest', 'initial_sync'].includes(action))

test('whoever begins with files and rows is told of both by one answer, also in the next runs', async () => {
  const server = new FakeServer()
  server.features = { ...everything, files_feed: true }
  server.put('/d/a.txt', 'a')
  const bench = await makeBench({ server })
  expect(await bench.sync({ rows: true })).toMatchObject({ downloaded: { files: 1 }, in_sync: true })
  expect(readTree(bench.root)).toEqual({ '/d': null, '/d/a.txt': 'a' })
  server.put('/d/b.txt', 'b')
  expect(await bench.sync({ rows: true })).toMatchObject({ downloaded: { files: 1 }, in_sync: true })
  expect(wholeAnswers(server.log)).toEqual(['initial_sync'])
})

test.each([
  ['a file without its checksum', (row: Record<string, unknown>) => ({ ...row, sha256: 'none' })],
  ['a name that leads elsewhere', (row: Record<string, unknown>) => ({ ...row, name: '../a.txt' })],
])('an account that begins with %s is listed instead', async (_, spoil) => {
  const server = new FakeServer()
  server.features = { ...everything, files_feed: true }
  server.put('/a.txt', 'a')
  server.mischief = (action) => {
    if (action !== 'initial_sync') return undefined
    const row = { id: 7, parent_id: null, name: 'a.txt', type: 'file', size: 1, mtime: 0, sha256: '0'.repeat(64) }
    const { serverId: server_id, epoch } = server
    return { ok: true, data: { svc_files: [spoil(row)] }, cursor: 1, schema_version: 1, server_id, epoch }
  }
  const bench = await makeBench({ server })
  expect(await bench.sync({ rows: true })).toMatchObject({ downloaded: { files: 1 }, in_sync: true })
  expect(readTree(bench.root)).toEqual({ '/a.txt': 'a' })
  expect(wholeAnswers(server.log).slice(0, 2)).toEqual(['initial_sync', 'manifest'])
})

test('folders that look after the rows by turns miss nothing of either', async () => {
  const { one, other } = await two()
  await one.sync({ rows: true })
  // Here only files are looked after for a while.
  write(other.root, 'b.txt', 'b')
  await other.sync()
  const pushed = rowsOf(one)
  pushed.change([note('first')], true)
  await one.sync({ rows: true })
  await other.sync()
  pushed.change([note('second')], true)
  await one.sync({ rows: true })
  expect(await other.sync({ rows: true })).toMatchObject({ rows: { received: 2 } })
  expect(titles(rowsOf(other))).toEqual(['first', 'second'])
  await one.sync({ rows: true })
  expect(readTree(one.root)).toEqual(readTree(other.root))
})

test('a dry run sends nothing and takes nothing in', async () => {
  const { one } = await two()
  await one.sync({ rows: true })
  const copy = rowsOf(one)
  copy.change([note('a')], true)
  const before = copy.place()
  await one.sync({ rows: true, dryRun: true })
  expect(copy.count().waiting).toBe(1)
  expect(copy.place()).toEqual(before)
})

test('what needs a decision is told by the run that met it, and by the state of the folder', async () => {
  const { one, other } = await two()
  const mine = rowsOf(one)
  mine.change([note('plan')], true)
  await one.sync({ rows: true })
  await other.sync({ rows: true })
  const { id } = mine.rows('svc_notes')[0] as { id: number }
  rowsOf(other).change([edit(id, { title: 'of the other' })], true)
  await other.sync({ rows: true })
  mine.change([edit(id, { title: 'of one' })], true)
  const looking = { path: one.root, stateFolder: one.stateFolder, clock }
  expect((await readStatus(looking)).rows).toEqual({ waiting: 1, conflicts: 0, refused: 0, as_of: NOW })
  expect(await one.sync({ rows: true })).toMatchObject({ rows: { conflicts: 1, new_rejected: 1, waiting: 0 } })
  expect(one.events).toContainEqual(expect.objectContaining({ event: 'rows', conflicts: 1 }))
  expect(await one.sync({ rows: true })).toMatchObject({ rows: { conflicts: 1, new_rejected: 0 } })
  expect((await readStatus(looking)).rows).toMatchObject({ waiting: 0, conflicts: 1 })
  expect(titles(mine)).toEqual(['of the other'])
})

test('rows that no sound server sends keep nobody from the files', async () => {
  const bench = await makeBench()
  bench.server.features = { ...everything, files_feed: true }
  await bench.sync({ rows: true })
  write(bench.root, 'a.txt', 'a')
  bench.server.mischief = (action, { cursor }) => {
    if (action !== 'delta') return undefined
    const changes = [
      { table: 'svc_notes', operation: 'UPDATE', data: { title: 'of no row' }, cursor: Number(cursor) + 1 },
    ]
    const { serverId: server_id, epoch } = bench.server
    return { ok: true, changes, cursor: Number(cursor) + 1, has_more: false, count: 1, epoch, server_id }
  }
  expect(await bench.sync({ rows: true })).toMatchObject({
    uploaded: { files: 1 },
    in_sync: false,
    skipped: [{ path: 'rows', code: 'rows_unsound' }],
  })
  expect(bench.server.text('/a.txt')).toBe('a')
  expect(bench.events).toContainEqual(expect.objectContaining({ event: 'notice', code: 'rows_unsound' }))
  expect(rowsOf(bench).rows('svc_notes')).toEqual([])
})

test('whose account a token opens is remembered without the token', async () => {
  const { one, account, server } = await two()
  const known = { url: server.url, username: '', token: account.token, profile: '' }
  expect(await knownAccount(one.stateFolder, known)).toBeUndefined()
  // The token under which these tests run a folder.
  await one.sync({ rows: true })
  expect(await knownAccount(one.stateFolder, known)).toEqual(one.owner)
  expect(await knownAccount(one.stateFolder, { ...known, token: 'b'.repeat(64) })).toBeUndefined()
  const folder = join(one.stateFolder, 'svc', 'rows')
  for (const name of readdirSync(folder)) {
    expect(readFileSync(join(folder, name), 'latin1')).not.toContain(account.token)
    if (!name.endsWith('-wal') && !name.endsWith('-shm')) expect(statSync(join(folder, name)).mode & 0o077).toBe(0)
  }
})
