import { cp, open, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { filesystem } from '../../../src/contract/filesystem.ts'
import type { CheckOptions } from '../../../src/domain/instance/storage-check.ts'
import { openEngine } from '../../../src/host/sqlite-engine.ts'
import type { Tables } from '../../../src/storage/engine/tables.ts'
import { openLocal } from '../../../src/wiring/local-domain.ts'
import { channelOf, say } from '../../support/chat.ts'
import { makeClock } from '../../support/clock.ts'
import { bytesOf, sha256Of } from '../../support/contents.ts'
import { folderOfFile, folderOfTest, startServer } from '../../support/server.ts'

const LARGE = 100_000
const small = bytesOf(500, 1)
const large = bytesOf(LARGE, 2)

/** A data directory in which something of everything happened, with nobody at work in it any more. */
async function makeWorld(dataDir: string) {
  const clock = makeClock()
  const server = await startServer({ dataDir, clock })
  const [ada, bob, eve] = [
    await server.account({ username: 'ada' }),
    await server.account({ username: 'bob' }),
    await server.account({ username: 'eve' }),
  ]
  await ada.put('/a/b/small', small)
  await ada.put('/a/large', large)
  await ada.put('/twice', bytesOf(300, 3))
  await ada.put('/twice', bytesOf(400, 4))
  await ada.put('/gone/with/it', bytesOf(200, 5))
  await ada.ask(filesystem.actions.trash, { path: '/gone' })
  await bob.put('/copy', large)
  await bob.put('/own/file', bytesOf(100, 6))
  const room = await channelOf(ada, bob)
  await say(ada, room, 'Good morning')
  const body = new FormData()
  body.append('file', new Blob([bytesOf(300, 7)]), 'shared.bin')
  await bob.ask(filesystem.actions.upload, { path: '/Teamchat/Engines' }, { body })
  const { results } = await ada.push(
    { table: 'svc_notes', operation: 'INSERT', data: { title: 'Tea' } },
    { table: 'svc_notes', operation: 'INSERT', data: { title: 'Milk' } },
  )
  await ada.push({ table: 'svc_notes', operation: 'DELETE', data: { id: results[1]!.id! } })
  const nodes = await server.database.read.q
    .selectFrom('nodes')
    .select(['id', 'name', 'user_id', 'parent_id'])
    .execute()
  const idOf = (name: string): number => nodes.find((node) => node.name === name)!.id
  const rootOf = (user: number): number => nodes.find((node) => node.user_id === user && node.parent_id === null)!.id
  await server.close()
  return { clock, ids: { ada: ada.id, bob: bob.id, eve: eve.id, room, note: results[0]!.id! }, idOf, rootOf }
}

const original = await folderOfFile()
const { clock, ...made } = await makeWorld(original)

/** A copy of that directory, with ways to spoil it. */
async function world() {
  const dataDir = await folderOfTest()
  await cp(original, dataDir, { recursive: true, preserveTimestamps: true })

  const database = openEngine(join(dataDir, 'svc.db'), 1_000)
  // As somebody with a tool for databases and no idea of what belongs together.
  database.pragma('foreign_keys = OFF')
  let closed = false
  const close = () => {
    if (!closed) database.close()
    closed = true
  }
  onTestFinished(close)
  return {
    dataDir,
    ...made,
    /** Closes the database, so that its file can be spoilt. */
    close,
    /** Runs a statement nobody should run. */
    sql: (statement: string) => void database.exec(statement),
    dump: (table: keyof Tables) => database.prepare(`select * from ${table}`).all(),
    blob: join(dataDir, 'blobs', sha256Of(large).slice(0, 2), sha256Of(large).slice(2, 4), sha256Of(large)),
    async check(options: CheckOptions = {}) {
      const { domain, close } = await openLocal({ dataDir, env: {}, clock })
      try {
        return await domain.instance.storage.check(options)
      } finally {
        await close()
      }
    },
    async delta(user: number, cursor: number) {
      const { domain, close } = await openLocal({ dataDir, env: {}, clock })
      try {
        return await domain.sync.changesSince(user, { cursor }, () => new AbortController().signal)
      } finally {
        await close()
      }
    },
  }
}

type World = Awaited<ReturnType<typeof world>>

test('where nothing is wrong nothing is found, and everything was looked at', async () => {
  const { check } = await world()
  const steps: [number, number][] = []
  const report = await check({ repair: true, progress: (bytes, total) => void steps.push([bytes, total]) })
  expect(report).toEqual({
    problems: [],
    truncated: [],
    checked: {
      nodes: expect.any(Number) as number,
      changes: expect.any(Number) as number,
      contents: 7,
      bytes: 101_800,
    },
    orphans: { blobs: 0, bytes: 0 },
  })
  expect(report.checked.nodes).toBeGreaterThan(15)
  expect(steps.at(-1)).toEqual([101_800, 101_800])
  expect((await check({ quick: true })).problems).toEqual([])
})

interface Case {
  name: string
  spoil: (at: World) => unknown
  /** What is found, as `id object`. */
  found: (at: World) => string[]
  /** Seen without reading the bytes. */
  quick?: false
}

const damaged = `content ${sha256Of(large)}`

const broken: Case[] = [
  {
    name: 'a table that is gone',
    spoil: ({ sql }) => sql('drop table reactions'),
    found: () => ['table-missing table reactions'],
  },
  {
    name: 'a store that another installation claimed',
    spoil: ({ dataDir }) => writeFile(join(dataDir, 'blobs', 'installation'), 'another\n'),
    found: () => ['store-foreign the blob store'],
  },
  {
    name: 'a byte of a blob that changed',
    spoil: async ({ blob }) => {
      const bytes = await readFile(blob)
      bytes[LARGE >> 1]! ^= 1
      await rm(blob)
      await writeFile(blob, bytes)
    },
    found: () => [`blob-damaged ${damaged}`],
    quick: false,
  },
  { name: 'a blob that is gone', spoil: ({ blob }) => rm(blob), found: () => [`blob-missing ${damaged}`] },
  { name: 'a blob cut short', spoil: ({ blob }) => truncate(blob, 10), found: () => [`blob-size ${damaged}`] },
  {
    name: 'another content in the database',
    spoil: ({ sql }) =>
      sql(`update contents set data = x'${bytesOf(500, 9).toString('hex')}' where sha256 = '${sha256Of(small)}'`),
    found: () => [`blob-damaged content ${sha256Of(small)}`],
    quick: false,
  },
  {
    name: 'a content in the database cut short',
    spoil: ({ sql }) => sql(`update contents set data = x'00' where sha256 = '${sha256Of(small)}'`),
    found: () => [`blob-size content ${sha256Of(small)}`],
  },
  {
    name: 'a content that is not recorded',
    spoil: ({ sql }) => sql(`delete from contents where sha256 = '${sha256Of(small)}'`),
    found: ({ idOf }) => [`content-unknown node ${idOf('small')}`],
  },
  {
    name: 'a version of another size than its content',
    spoil: ({ sql }) => sql('update versions set size = 7'),
    found: () => ['content-size version 1'],
  },
  {
    name: 'an account without a root',
    spoil: ({ sql, ids }) => sql(`delete from nodes where user_id = ${ids.eve}`),
    found: () => ['root-missing account eve'],
  },
  {
    name: 'a root that is a file',
    spoil: ({ sql, rootOf, ids }) =>
      sql(`update nodes set type = 'file', sha256 = '${sha256Of(small)}', size = 500 where id = ${rootOf(ids.eve)};
        update counters set used_bytes = 500 where user_id = ${ids.eve}`),
    found: ({ rootOf, ids }) => [`root-is-file node ${rootOf(ids.eve)}`],
  },
  {
    name: 'a file in a folder that is not there',
    spoil: ({ sql, idOf }) => sql(`update nodes set parent_id = 999 where id = ${idOf('small')}`),
    found: ({ idOf }) => [`parent-missing node ${idOf('small')}`],
  },
  {
    name: 'a file in a file',
    spoil: ({ sql, idOf }) => sql(`update nodes set parent_id = ${idOf('large')} where id = ${idOf('small')}`),
    found: ({ idOf }) => [`parent-is-file node ${idOf('small')}`],
  },
  {
    name: 'a file in a folder of somebody else',
    spoil: ({ sql, idOf, rootOf, ids }) =>
      sql(`update nodes set parent_id = ${rootOf(ids.bob)} where id = ${idOf('small')}`),
    found: ({ idOf }) => [`parent-elsewhere node ${idOf('small')}`],
  },
  {
    name: 'a file of a room in a folder of an account',
    spoil: ({ sql, idOf, rootOf, ids }) =>
      sql(`update nodes set parent_id = ${rootOf(ids.bob)} where id = ${idOf('shared.bin')}`),
    found: ({ idOf }) => [`parent-elsewhere node ${idOf('shared.bin')}`],
  },
  {
    name: 'folders in each other',
    spoil: ({ sql, idOf }) => sql(`update nodes set parent_id = ${idOf('b')} where id = ${idOf('a')}`),
    found: ({ idOf }) => [`folder-cycle node ${Math.min(idOf('a'), idOf('b'))}`],
  },
  {
    name: 'a folder in itself',
    spoil: ({ sql, idOf }) => sql(`update nodes set parent_id = id where id = ${idOf('own')}`),
    found: ({ idOf }) => [`folder-cycle node ${idOf('own')}`],
  },
  {
    name: 'something deleted without an entry of the trash',
    spoil: ({ sql }) => sql('delete from trash'),
    found: ({ idOf }) => ['gone', 'with', 'it'].map((name) => `trash-entry-missing node ${idOf(name)}`),
  },
  {
    name: 'an entry of the trash for what was not deleted',
    spoil: ({ sql, idOf, ids }) =>
      sql(`insert into trash (user_id, node_id, path, deleted_at) values (${ids.ada}, ${idOf('small')}, '/x', 1)`),
    found: () => ['trash-entry-stray trash entry 2'],
  },
  {
    name: 'an account without counters',
    spoil: ({ sql, ids }) => sql(`delete from counters where user_id = ${ids.eve}`),
    found: () => ['counters-missing account eve'],
  },
  {
    name: 'a message of a room that is not there',
    spoil: ({ sql, ids }) =>
      sql(`insert into messages (room_id, user_id, content, timestamp) values (999, ${ids.ada}, 'x', 1)`),
    found: () => ['reference-broken table messages'],
  },
]

const mendable: Case[] = [
  {
    name: 'counts of data that are gone',
    spoil: ({ sql }) => sql('delete from data_usage'),
    found: () => ['quota-drift account ada', 'quota-drift account ada'],
  },
  {
    name: 'a count that is wrong',
    spoil: ({ sql, ids }) => sql(`update counters set used_bytes = 7 where user_id = ${ids.ada}`),
    found: () => ['quota-drift account ada'],
  },
  {
    name: 'a row the feed does not tell of',
    spoil: ({ sql }) => sql(`delete from changes where tbl = 'svc_notes' and deleted = 0`),
    found: ({ ids }) => [`feed-row-missing svc_notes ${ids.note} for account ${ids.ada}`],
  },
  {
    name: 'a file the feed takes for deleted',
    spoil: ({ sql, idOf }) =>
      sql(`update changes set deleted = 1 where row_id = ${idOf('small')} and tbl = 'svc_files'`),
    found: ({ idOf, ids }) => [`feed-row-missing svc_files ${idOf('small')} for account ${ids.ada}`],
  },
  {
    name: 'a message one member’s feed does not tell of',
    spoil: ({ sql, ids }) => sql(`delete from changes where tbl = 'svc_messages' and user_id = ${ids.bob}`),
    found: ({ ids }) => [`feed-row-missing svc_messages 1 for account ${ids.bob}`],
  },
  {
    name: 'a room the feed of a stranger tells of',
    spoil: ({ sql, ids }) =>
      sql(`insert into changes values (${ids.eve}, 'svc_rooms', ${ids.room}, 1, 1, 0, 1);
        update counters set seq = 1 where user_id = ${ids.eve}`),
    found: ({ ids }) => [`feed-row-stray svc_rooms ${ids.room} for account ${ids.eve}`],
  },
  {
    name: 'a row that is gone from under the feed',
    spoil: ({ sql }) => sql('delete from svc_notes'),
    found: ({ ids }) => ['quota-drift account ada', `feed-row-stray svc_notes ${ids.note} for account ${ids.ada}`],
  },
  {
    name: 'a feed that reaches beyond its head',
    spoil: ({ sql, ids }) => sql(`update counters set seq = 1 where user_id = ${ids.bob}`),
    found: () => ['feed-beyond-head account bob'],
  },
  {
    name: 'two changes at one position',
    spoil: ({ sql, ids }) => sql(`update changes set seq = 1 where user_id = ${ids.ada} and seq = 2`),
    found: ({ ids }) => [`feed-position-shared account ${ids.ada}`],
  },
]

const named = (flaws: { id: string; object: string }[]) => flaws.map(({ id, object }) => `${id} ${object}`)

/** Everything but the feed, what is counted, and the log. */
const KEPT = ['users', 'nodes', 'versions', 'trash', 'contents', 'rooms', 'room_members', 'messages'] as const

describe.each([...broken, ...mendable])('$name', ({ spoil, found, quick = true }) => {
  test('is found by its name, and nothing else is', async () => {
    const at = await world()
    await spoil(at)
    expect(named((await at.check()).problems)).toEqual(found(at))
    expect(named((await at.check({ quick: true })).problems)).toEqual(quick ? found(at) : [])
  })
})

test.each(broken)('$name is left as it is by a repair', async ({ spoil, found }) => {
  const at = await world()
  await spoil(at)
  const before = [...KEPT, 'changes', 'counters', 'audit'].map((table) => at.dump(table as keyof Tables))
  const { problems: flaws } = await at.check({ repair: true })
  expect(named(flaws)).toEqual(found(at))
  expect(flaws.every(({ repairable, repaired }) => !repairable && !repaired)).toBe(true)
  expect([...KEPT, 'changes', 'counters', 'audit'].map((table) => at.dump(table as keyof Tables))).toEqual(before)
})

test.each(mendable)('$name is repaired, and nothing else is touched', async ({ spoil, found }) => {
  const at = await world()
  await spoil(at)
  const before = KEPT.map(at.dump)
  const { problems: flaws } = await at.check({ repair: true })
  expect(named(flaws)).toEqual(found(at))
  expect(flaws.every(({ repairable, repaired }) => repairable && repaired)).toBe(true)
  expect((await at.check()).problems).toEqual([])
  expect(KEPT.map(at.dump)).toEqual(before)
  const kinds = at.dump('audit').map((row) => (row as { kind: string }).kind)
  expect(kinds.filter((kind) => kind === 'storage.repaired' || kind === 'quota.recounted')).toHaveLength(
    found(at).length,
  )
})

test('a repaired feed tells those who were there before of the row, and of the end of one that is gone', async () => {
  const at = await world()
  const { cursor } = await at.delta(at.ids.ada, 0)
  at.sql(`delete from changes where tbl = 'svc_notes' and deleted = 0`)
  await at.check({ repair: true })
  const told = await at.delta(at.ids.ada, cursor)
  expect(told.changes).toMatchObject([{ table: 'svc_notes', operation: 'INSERT', data: { title: 'Tea' } }])
  at.sql('delete from svc_notes')
  await at.check({ repair: true })
  expect((await at.delta(at.ids.ada, told.cursor)).changes).toMatchObject([
    { table: 'svc_notes', operation: 'DELETE', data: { id: at.ids.note } },
  ])
})

test('a repair mends what it can beside what it cannot', async () => {
  const at = await world()
  at.sql(`update counters set used_bytes = 7 where user_id = ${at.ids.ada}`)
  await rm(at.blob)
  const { problems: flaws } = await at.check({ repair: true })
  expect(flaws.map(({ id, repaired }) => [id, repaired])).toEqual([
    ['blob-missing', false],
    ['quota-drift', true],
  ])
})

test('of a content that is not sound it is said whose files have it', async () => {
  const at = await world()
  await rm(at.blob)
  const [flaw] = (await at.check()).problems
  expect(flaw!.used_by).toEqual(['ada: /a/large', 'bob: /copy'])
})

test('a damaged database is said to be damaged, and nothing is told of what stands in it', async () => {
  const at = await world()
  const [{ rootpage }] = [...at.dump('sqlite_master' as keyof Tables)].filter(
    (row) => (row as { name: string }).name === 'audit_by_name',
  ) as [{ rootpage: number }]
  at.sql('pragma wal_checkpoint(truncate)')
  at.close()
  const file = await open(join(at.dataDir, 'svc.db'), 'r+')
  // An index page that says it is empty.
  await file.write(Buffer.from([0x0a, 0, 0, 0, 0, 0, 0, 0]), 0, 8, (rootpage - 1) * 4_096)
  await file.close()
  const { problems: flaws, checked: looked } = await at.check({ repair: true })
  expect(new Set(flaws.map(({ id }) => id))).toEqual(new Set(['database-damaged']))
  expect(looked.contents).toBe(0)
})

test('what is deleted while contents are read is no flaw', async () => {
  const at = await world()
  const { domain, close } = await openLocal({ dataDir: at.dataDir, env: {}, clock: makeClock() })
  onTestFinished(close)
  let spoilt = false
  const { problems: flaws } = await domain.instance.storage.check({
    progress() {
      if (spoilt) return
      spoilt = true
      // As the collector does it: the row first, then the bytes.
      at.sql('delete from nodes where sha256 is not null; delete from versions; delete from contents')
    },
  })
  expect(flaws).toEqual([])
})
