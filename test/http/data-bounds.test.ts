import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { desktopComponents } from '../../src/contract/desktop-components.ts'
import { filesystem } from '../../src/contract/filesystem.ts'
import { teamChat } from '../../src/contract/team-chat.ts'
import { ROW_BYTES } from '../../src/storage/engine/data-usage.ts'
import type { Account } from '../support/account.ts'
import { temporaryFolder } from '../support/folder.ts'
import { serverOfFile, startServer } from '../support/server.ts'

const KB = 1_024
const bound = {
  'rows.max_bytes': 64 * KB,
  'rows.max_rows': 40,
  'chat.max_bytes': 64 * KB,
  'components.max_bytes': 64 * KB,
  'retention.tombstones_max': 1_000,
  'retention.pushes_max': 64 * KB,
} as const

const server = await serverOfFile({
  flags: Object.fromEntries(Object.entries(bound).map(([name, value]) => [name, String(value)])),
})

const insert = (content: string) => ({ table: 'svc_notes', operation: 'INSERT', data: { title: 'x', content } })
const update = (id: number, content: string) => ({ table: 'svc_notes', operation: 'UPDATE', data: { id, content } })
const remove = (id: number) => ({ table: 'svc_notes', operation: 'DELETE', data: { id } })
const kept = async (account: Account) => (await account.ask(filesystem.actions.quota, {})).data
const recounted = () => server.local.domain.instance.usage.recount({ dryRun: true })

test('a push that would keep more rows than the account may is refused operation by operation, and deleting makes room', async () => {
  const account = await server.account()
  const big = 'ü'.repeat(10 * KB)
  const { results } = await account.push(insert(big), insert(big), insert(big), insert(big), insert('small'))
  expect(results.map(({ code = 'ok' }) => code)).toEqual(['ok', 'ok', 'ok', 'quota_exceeded', 'ok'])
  expect((await kept(account))['rows']).toEqual({
    used: 3 * (20 * KB + 1 + ROW_BYTES) + 6 + ROW_BYTES,
    total: 64 * KB,
    items: 4,
    max_items: 40,
  })
  const [first, , , , small] = results
  const grown = await account.push(update(small!.id!, big))
  expect(grown.results[0]).toMatchObject({ ok: false, code: 'quota_exceeded', id: small!.id })
  const room = await account.push(remove(first!.id!), update(small!.id!, big))
  expect(room.results.map(({ ok }) => ok)).toEqual([true, true])
  expect(await recounted()).toEqual([])

  const other = await server.account()
  const many = await other.push(...Array.from({ length: 42 }, () => insert('')))
  expect(many.results.filter(({ code }) => code === 'quota_exceeded')).toHaveLength(2)
})

test('messages, edits and reactions beyond what an account may keep are refused with 413, and what others say is not', async () => {
  const [ada, bob] = [await server.account(), await server.account()]
  const { room } = await ada.ask(teamChat.actions.create_room, { name: 'r', type: 'channel', participants: [bob.id] })
  const say = (who: Account, content: string) => who.call(teamChat.actions.send, { room_id: room.room_id, content })
  const statuses: number[] = []
  for (let index = 0; index < 4; index++) statuses.push((await say(ada, 'A'.repeat(10 * KB))).status)
  expect(statuses).toEqual([200, 200, 200, 413])
  const tiny = (await say(bob, 'hi')).json as { message: { message_id: number } }
  const own = (await say(ada, 'x')).json as { message: { message_id: number } }
  const edit = await ada.call(teamChat.actions.edit, { ...own.message, content: 'B'.repeat(10 * KB) })
  expect([edit.status, edit.json]).toMatchObject([413, { code: 'quota_exceeded' }])
  expect((await ada.call(teamChat.actions.react, { ...tiny.message, emoji: '👍' })).status).toBe(200)
  expect((await ada.call(teamChat.actions.delete, own.message)).status).toBe(200)
  expect(await recounted()).toEqual([])
  await ada.ask(teamChat.actions.delete_room, { room_id: room.room_id })
  expect((await kept(ada))['chat']).toMatchObject({ used: 0, items: 0 })
  expect(await recounted()).toEqual([])
})

test('versions of components and profiles count by their bytes, and no more than an account may keep are taken', async () => {
  const account = await server.account()
  const { save, save_profile, delete_profile, profiles } = desktopComponents.actions
  const style = (component_id: string) => ({ component_id, component_type: 'css', code: '/'.repeat(20 * KB) })
  expect((await account.call(save, style('a'))).status).toBe(200)
  expect((await account.call(save, style('b'))).status).toBe(200)
  const both = await account.call(save_profile, { name: 'both' })
  expect([both.status, both.json]).toMatchObject([413, { code: 'quota_exceeded' }])
  await account.call(desktopComponents.actions.reset, { component_id: 'b' })
  expect((await account.call(save_profile, { name: 'one' })).status).toBeLessThan(300)
  expect((await account.call(save, style('a'))).status).toBe(413)
  const { profiles: made } = await account.ask(profiles, {})
  await account.ask(delete_profile, { profile_id: made[0]!.id })
  expect((await account.call(save, style('a'))).status).toBe(200)
  expect(await recounted()).toEqual([])
})

test('upkeep forgets the oldest tombstones and remembered pushes of an account that makes too many, and its devices start anew', async () => {
  const account = await server.account()
  const { cursor } = await account.everything()
  for (let round = 0; round < 40; round++) {
    const { results } = await account.push(...Array.from({ length: 30 }, () => insert('')))
    const gone = results.map(({ id }) => ({ ...remove(id!), op_id: crypto.randomUUID() }))
    expect((await account.push(...gone)).results.every(({ ok }) => ok)).toBe(true)
    server.clock.pass(1_000)
  }
  await server.local.domain.instance.upkeep()
  const { rows } = await sql<{ count: number }>`select count(*) as count from changes
    where user_id = ${account.id} and deleted = 1`.execute(server.database.read.q)
  expect(Number(rows[0]!.count)).toBe(1_000)
  const { rows: pushes } = await sql<{ bytes: number }>`select bytes from data_usage
    where user_id = ${account.id} and kind = 'pushes'`.execute(server.database.read.q)
  expect(pushes[0]!.bytes).toBeLessThanOrEqual(64 * KB)
  await expect(account.delta(cursor)).rejects.toThrow('410')
  expect((await account.everything()).data['svc_notes']).toEqual([])
  expect(await recounted()).toEqual([])
})

test('an installation of before comes up with what its accounts keep counted', async () => {
  const dataDir = await temporaryFolder()
  const before = await startServer({ dataDir })
  const account = await before.account()
  await account.push(insert('one'), insert('two'))
  const said = await kept(account)
  const counts = before.database.read.q.selectFrom('data_usage').selectAll().orderBy('user_id').orderBy('kind')
  const counted = await counts.execute()
  // As the migration leaves the rows of an account: not counted yet.
  await before.database.write('instance', (tx) =>
    sql`update data_usage set items = -1, bytes = 0 where kind = 'rows'`.execute(tx.q),
  )
  await before.close()
  const after = await startServer({ dataDir })
  const now = await after.database.read.q
    .selectFrom('data_usage')
    .selectAll()
    .orderBy('user_id')
    .orderBy('kind')
    .execute()
  expect(now).toEqual(counted)
  expect(said['rows']).toMatchObject({ items: 2 })
  await after.close()
})
