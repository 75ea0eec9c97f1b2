import { sql } from 'kysely'
import { beforeAll, expect, test, vi } from 'vitest'
import { actions } from '../../src/contract/contract.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import type { Database, Writer, OwnerScope } from '../../src/storage/engine/database.ts'
import { advance } from '../../src/storage/feed/changes.ts'
import { bytesOf } from '../support/contents.ts'
import { channelOf } from '../support/chat.ts'
import { explores } from '../support/explores.ts'
import { prepare, restoreService } from '../support/examples.ts'
import { serverOfFile, type TestServer } from '../support/server.ts'
import { tarOf } from '../support/tar.ts'

// A unit of work declares which accounts and rooms it writes for: what it writes elsewhere could be lost on Postgres,
// where units of other accounts run at the same time. Here triggers check it.

/** Only appended to, or named by a hash that the database cannot compute. */
const SHARED = new Set(['audit', 'login_throttles', 'search_queue'])

/** Rows that belong to whatever a row of another table belongs to. */
const PARENTS: Record<string, [table: string, key: string]> = {
  assistant_messages: ['assistant_conversations', 'conversation_id'],
  profile_components: ['component_profiles', 'profile_id'],
}

const seen = new Set<string>()
const violations: string[] = []
let isChecked = false

vi.mock(import('../../src/storage/engine/sqlite.ts'), async (original) => {
  const real = await original()
  const openSqlite: typeof real.openSqlite = (...given) => {
    const database = real.openSqlite(...given)
    const write: Database['write'] = (scope, unit) =>
      database.write(scope, scope !== 'instance' && isChecked ? (tx) => checked(tx, unit, scope) : unit)
    return { ...database, write }
  }
  return { ...real, openSqlite }
})

async function checked<T>(
  tx: Writer,
  unit: (tx: Writer) => Promise<T>,
  { accounts = [], rooms = [], memberFeeds = [], keys = [] }: OwnerScope,
) {
  const { rows: isInstalled } = await sql`select 1 from sqlite_schema where name = 'scope_of_test'`.execute(tx.q)
  if (isInstalled.length === 0) return unit(tx)
  await sql`insert into scope_of_test (kind, id) values ('unit', 0)`.execute(tx.q)
  for (const id of accounts) await sql`insert into scope_of_test (kind, id) values ('user', ${id})`.execute(tx.q)
  for (const id of rooms) await sql`insert into scope_of_test (kind, id) values ('room', ${id})`.execute(tx.q)
  for (const id of memberFeeds)
    await sql`insert into scope_of_test (kind, id) select 'user', user_id from room_members where room_id = ${id}`.execute(
      tx.q,
    )
  for (const key of keys) await sql`insert into scope_of_test (kind, id) values ('key', ${key})`.execute(tx.q)
  const result = await unit(tx).catch((error: unknown) => {
    if (String(error).includes('outside of its scope')) violations.push(String(error))
    throw error
  })
  const { rows: written } = await sql<{ name: string }>`select distinct name from written_by_test`.execute(tx.q)
  for (const { name } of written) seen.add(name)
  await sql`delete from written_by_test`.execute(tx.q)
  await sql`delete from scope_of_test`.execute(tx.q)
  return result
}

/** Refuses rows outside of the scope of the unit that writes them. */
async function installTriggers(database: Database): Promise<void> {
  await database.write('instance', async (tx) => {
    await sql`create table scope_of_test (kind text, id)`.execute(tx.q)
    await sql`create table written_by_test (name text)`.execute(tx.q)
    const { rows: tables } = await sql<{ name: string }>`select name from sqlite_schema where type = 'table'
      and name not like 'sqlite%' and name not like '%_of_test' and name not like '%_by_test'`.execute(tx.q)
    for (const { name } of tables) {
      if (SHARED.has(name)) continue
      const { rows: columns } = await sql<{ name: string }>`select name from pragma_table_info(${name})`.execute(tx.q)
      const has = (column: string) => columns.some((one) => one.name === column)
      const owners: string[] = []
      const owned = (kind: string, column: string) =>
        owners.push(`exists (select 1 from scope_of_test where kind = '${kind}' and id = ROW.${column})`)
      if (name === 'users') owned('user', 'id')
      if (name === 'rooms') owned('room', 'id')
      if (has('user_id')) owned('user', 'user_id')
      if (has('room_id')) owned('room', 'room_id')
      // A room that a unit opens is its own.
      if (name === 'rooms') owned('user', 'created_by')
      if (name === 'contents') owned('key', 'sha256')
      const parent = PARENTS[name]
      if (parent)
        owners.push(
          `exists (select 1 from scope_of_test join ${parent[0]} p on p.user_id = scope_of_test.id
          where kind = 'user' and p.id = ROW.${parent[1]})`,
          // Deleted with its parent.
          `not exists (select 1 from ${parent[0]} p where p.id = ROW.${parent[1]})`,
        )
      const condition = owners.length === 0 ? '0' : owners.join(' or ')
      for (const [verb, row] of [
        ['insert', 'new'],
        ['update', 'new'],
        ['delete', 'old'],
      ] as const)
        await sql
          .raw(
            `create trigger scope_${name}_${verb} before ${verb} on "${name}"
          when exists (select 1 from scope_of_test) begin
            insert into written_by_test values ('${name}');
            select raise(abort, 'a row of ${name} outside of its scope') where not (${condition.replaceAll('ROW', row)});
          end`,
          )
          .execute(tx.q)
    }
  })
}

const server: TestServer = await serverOfFile()
beforeAll(async () => {
  await installTriggers(server.database)
  isChecked = true
})

test('what a unit declares is what it writes', async () => {
  const { chat, files, sync } = server.local.domain
  const [ada, bob] = [await server.account(), await server.account()]
  const author = {
    id: ada.id,
    username: ada.username,
    display_name: ada.username,
    avatar_color: '#336699',
    role: 'user' as const,
  }
  const room = await channelOf(ada, bob)
  const insert = { operation: 'INSERT', table: 'svc_notes', op_id: crypto.randomUUID(), data: { title: 'a' } }
  const { results } = await sync.push(ada.id, { operations: [insert] }, 'key')
  const { id, version } = results[0]!
  await sync.push(ada.id, {
    operations: [{ operation: 'UPDATE', table: 'svc_notes', data: { id, version, title: 'b' } }],
  })
  for (const size of [10, 20, 100_000]) await ada.put('/a/file', bytesOf(size))
  await ada.put('/b/file', bytesOf(100_000))
  await ada.call(
    syncFiles.actions.upload_batch,
    {},
    {
      headers: { 'content-type': 'application/x-tar' },
      body: tarOf({ name: 'c/one', content: 'one' }, { name: 'd/', type: '5' }),
    },
  )
  await files.makeFolder(ada.id, '/e')
  await files.move(ada.id, '/a', '/e/a')
  await files.remove(ada.id, '/b/file')
  await files.erase(ada.id, '/e')
  await chat.send(author, { room_id: room, content: '@assistant hello' })
  await chat.typing(bob.id, room)
  await chat.presence(bob.id, room)
  await chat.markRead(bob.id, room)
  expect([...seen].sort()).toEqual([
    'assistant_mentions',
    'changes',
    'contents',
    'counters',
    'data_usage',
    'idempotency_keys',
    'messages',
    'nodes',
    'pushed_operations',
    'released_contents',
    'room_members',
    'rooms',
    'svc_notes',
    'trash',
    'users',
    'versions',
  ])
})

test('every action writes what its units declare', async () => {
  for (const action of actions) {
    // Most of what administrators do is for the instance.
    const isAdmin = action.auth !== 'anyone' && action.auth.admin
    if (action.method === 'GET' || (isAdmin && !explores)) continue
    const { client, params, more } = await prepare(server, action)
    const { status } = await client.call(action, params, more)
    const name = `${action.path} ${action.name}`
    expect([name, status < 500 || status, violations]).toEqual([name, true, []])
  }
  await restoreService()
})

test('a unit that writes for others is found', async () => {
  const [ada, bob] = [await server.account(), await server.account()]
  const unit = server.database.write({ accounts: [ada.id] }, (tx) => advance(tx, bob.id, 1))
  await expect(unit).rejects.toThrow('a row of counters outside of its scope')
})
