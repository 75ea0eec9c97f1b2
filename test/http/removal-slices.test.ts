import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { versions } from '../../src/contract/versions.ts'
import type { RemovalOptions } from '../../src/domain/accounts/removal.ts'
import { makeRemovalJobs } from '../../src/domain/accounts/removal-jobs.ts'
import { makeTreeJobs } from '../../src/domain/files/tree-jobs.ts'
import { makeHeavy } from '../../src/domain/heavy.ts'
import { openLocal } from '../../src/wiring/local-domain.ts'
import type { Account } from '../support/account.ts'
import { newUser, PASSWORD, signedIn } from '../support/browser.ts'
import { channelOf, heard, reactTo, say } from '../support/chat.ts'
import { mirrorOf } from '../support/mirror.ts'
import { folderOfTest, serverOfTest, startServer, type TestServer } from '../support/server.ts'

const fs = filesystem.actions

/** An account with some of everything, in a room with another one and in one alone. */
async function furnished(server: TestServer, other: Account): Promise<{ ada: Account; room: number }> {
  const ada = await server.account({ username: 'ada' })
  for (const path of ['/a', '/d/b', '/d/e/c', '/d/e/f/g', '/h/i']) {
    await ada.put(path, 'one')
    await ada.put(path, path)
  }
  // A folder that is older than the one it lies in.
  await ada.ask(fs.mkdir, { path: '/late' })
  await ada.ask(fs.move, { from: '/d', to: '/late/d' })
  await ada.put('/gone/x', 'gone')
  await ada.ask(fs.trash, { path: '/gone' })
  await ada.ask(fs.trash, { path: '/late/d/b' })
  for (let row = 0; row < 7; row += 1)
    await ada.push({ table: 'svc_notes', operation: 'INSERT', data: { title: `Note ${row}` } })
  const room = await channelOf(ada, other)
  for (let number = 0; number < 5; number += 1) await say(ada, room, `message ${number}`)
  const { message_id } = await say(other, room, 'hello yourself')
  await reactTo(ada, message_id, '👍')
  const alone = await channelOf(ada)
  for (let number = 0; number < 5; number += 1) await say(ada, alone, `thought ${number}`)
  for (const name of ['Engines', `Engines (#${alone})`]) {
    const folder = `/Teamchat/${name}/d`
    await ada.ask(fs.write, { path: `${folder}/r`, content: 'old' })
    await ada.ask(fs.write, { path: `${folder}/r`, content: 'newer' })
    await ada.ask(fs.write, { path: `${folder}/s`, content: 's' })
  }
  await other.ask(fs.write, { path: '/Teamchat/Engines/d/own', content: 'own' })
  return { ada, room }
}

/** Decides a removal that no slice follows, as if the process had ended there; the server is of no other use from then on. */
async function decided(server: TestServer, user: number, bequest?: RemovalOptions): Promise<void> {
  await server.local.domain.files.close()
  await expect(server.local.domain.accounts.remove(user, bequest)).rejects.toMatchObject({ code: 'busy' })
}

/** Everything that is found wrong with what is stored. */
const flaws = async (server: TestServer) => (await server.local.domain.instance.storage.check()).problems

class Killed extends Error {}

/**
 * Finishes a removal as processes do that are killed after each transaction, three rows at a time; `between` has its turn
 * then. Returns how many there were.
 */
async function finishedByKilled(server: TestServer, user: number, between: () => Promise<unknown>): Promise<number> {
  const { database: unattended, clock } = server
  const { settle: settleTrees } = makeTreeJobs({ database: unattended, clock, heavy: makeHeavy() })
  async function slice<T>(work: () => Promise<T>): Promise<T> {
    const answer = await work()
    if (answer === 'done') return answer
    throw new Killed()
  }
  for (let slices = 1; ; slices += 1) {
    try {
      await makeRemovalJobs({ unattended, clock, slice, settleTrees, size: 3 }).finish(user)
      return slices
    } catch (error) {
      if (!(error instanceof Killed)) throw error
    }
    await between()
  }
}

/** Tables with rows that are still an account's. */
async function traces({ database: { read } }: TestServer, user: number): Promise<string[]> {
  const { rows: tables } = await (
    read.engine === 'sqlite'
      ? sql<{
          name: string
        }>`select m.name from sqlite_schema m join pragma_table_info(m.name) c where c.name = 'user_id'
          and m.type = 'table'`
      : sql<{ name: string }>`select table_name as name from information_schema.columns
          where column_name = 'user_id' and table_schema = current_schema()`
  ).execute(read.q)
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql`select 1 from ${sql.table(name)} where user_id = ${user} limit 1`.execute(read.q)
    if (rows.length > 0) found.push(name)
  }
  return found
}

test.each([
  { hasHeir: false, keepMessages: false },
  { hasHeir: true, keepMessages: false },
  { hasHeir: false, keepMessages: true },
])(
  'an account is removed in slices, also by processes that are killed, and others write in between ($hasHeir, $keepMessages)',
  async ({ hasHeir, keepMessages }) => {
    const server = await serverOfTest()
    const bob = await server.account({ username: 'bob' })
    const cyd = await server.account({ username: 'cyd' })
    const { ada, room } = await furnished(server, bob)
    await decided(server, ada.id, { heir: hasHeir ? cyd.id : undefined, keepMessages })
    const mirror = mirrorOf(cyd)
    let written = 0
    const slices = await finishedByKilled(server, ada.id, async () => {
      await bob.put(`/between/${++written}`, 'b')
      expect(await flaws(server)).toEqual([])
      if (hasHeir) await mirror.follow({ elsewhere: await inRooms(server, cyd.id) })
    })
    expect(slices).toBeGreaterThan(20)
    expect((await bob.manifest()).files).toHaveLength(slices - 1)
    expect([await traces(server, ada.id), await flaws(server)]).toEqual([[], []])
    const former = [0, 1, 2, 3, 4].map((number) => [`message ${number}`, 'Former user', []])
    expect((await heard(bob, room)).map(({ content, username, reactions }) => [content, username, reactions])).toEqual([
      ...(keepMessages ? former : []),
      ['hello yourself', 'bob', []],
    ])
    const kept = (await bob.ask(fs.list, { path: '/Teamchat/Engines/d' })).items.map(({ name }) => name)
    expect(kept).toEqual(hasHeir ? ['own', 'r', 's'] : ['own'])
    const given = ['/a', '/h/i', '/late/d/e/c', '/late/d/e/f/g'].map((path) => `/Files of ada${path}`)
    expect((await cyd.manifest()).files.map(({ path }) => path).sort()).toEqual(hasHeir ? given : [])
    if (!hasHeir) return
    const { versions: old } = await cyd.ask(versions.actions.list, { path: given[0]! })
    expect(old.map(({ size }) => size)).toEqual([2, 3])
  },
)

/** Bytes that an account has in rooms. */
async function inRooms({ database }: TestServer, user: number): Promise<number> {
  const nodes = database.read.q.selectFrom('nodes').select('size').where('user_id', '=', user)
  const rows = await nodes.where('room_id', 'is not', null).where('trash_id', 'is', null).execute()
  return rows.reduce((sum, { size }) => sum + size, 0)
}

test('what was interrupted is finished by the next start, and by the same removal', async () => {
  const dataDir = await folderOfTest()
  const first = await startServer({ dataDir })
  const [ada, bob] = [await first.account({ username: 'ada' }), await first.account({ username: 'bob' })]
  const cyd = await first.account({ username: 'cyd' })
  await ada.put('/a', 'a')
  const room = await channelOf(cyd, bob)
  await say(bob, room, 'I stay')
  await decided(first, ada.id)
  await decided(first, bob.id, { keepMessages: true })
  await first.close()

  const { domain, close } = await openLocal({ dataDir, env: first.env })
  // What was decided stands.
  await expect(domain.accounts.remove(ada.id, { keepMessages: true })).rejects.toMatchObject({ code: 'conflict' })
  expect((await domain.accounts.planRemoval(bob.id)).messages_kept).toBe(1)
  const timers = vi.spyOn(globalThis, 'setTimeout')
  expect(await domain.accounts.remove(ada.id)).toMatchObject({ had: { files: 1 }, handed_over: undefined })
  // After every slice, other processes get the lock, which they ask for every 10 ms.
  expect(timers.mock.calls.filter(([, delay]) => delay! > 10 && delay! < 50).length).toBeGreaterThan(0)
  timers.mockRestore()
  const names = async () => (await domain.accounts.list()).map(({ username }) => username)
  expect(await names()).not.toContain('ada')
  const second = await startServer({ dataDir })
  // Closing waits for what the start began.
  await second.close()
  expect(await names()).not.toContain('bob')
  const { messages } = await domain.chat.messages(cyd.id, { room_id: room })
  expect(messages).toMatchObject([{ content: 'I stay', is_former: true }])
  await close()
})

test('whoever is being removed is out from the first moment on, and nobody changes the account any more', async () => {
  const server = await serverOfTest()
  const root = await newUser(server, 'admin')
  const browser = await signedIn(server, root.username)
  const ada = await server.account({ username: 'ada' })
  const [bob, cyd] = [await server.account(), await server.account()]
  await ada.put('/a', 'a')
  await decided(server, ada.id, { heir: bob.id })

  expect((await ada.call(fs.quota)).status).toBe(401)
  const { users } = (await browser.get('/api/admin.php?action=users')).json as { users: object[] }
  expect(users).toContainEqual(expect.objectContaining({ username: 'ada', state: 'removing', device_count: 0 }))
  const post = async (action: string, params: object) =>
    (await browser.post(`/api/admin.php?action=${action}`, params)).json
  expect(await post('enable_user', { user_id: ada.id })).toMatchObject({ code: 'conflict' })
  const dare = (params: object) => post('remove_user', { ...params, current_password: PASSWORD })
  expect(await dare({ user_id: ada.id, files_to: cyd.id })).toMatchObject({ code: 'conflict' })
  // Who is getting files stays until they are there, and nobody gives files to who is leaving.
  expect(await dare({ user_id: bob.id })).toMatchObject({ code: 'conflict' })
  expect(await dare({ user_id: cyd.id, files_to: ada.id })).toMatchObject({ code: 'conflict' })
})
