import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { teamChat } from '../../src/contract/team-chat.ts'
import type { Database } from '../../src/storage/engine/database.ts'
import { openPostgres } from '../../src/storage/engine/postgres.ts'
import { openSqlite } from '../../src/storage/engine/sqlite.ts'
import { makeAccount, type Account, type Change } from '../support/account.ts'
import { channelOf, roomOf } from '../support/chat.ts'
import { makeClock } from '../support/clock.ts'
import { runCommandWith } from '../support/command.ts'
import { freshName, programs, startPostgres, type Cluster } from '../support/postgres.ts'
import { folderOfTest } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'

// Feeds take over the messages of a large room in parts, and rooms are left and deleted in parts: a server that is killed
// between two of them neither loses nor repeats anything, and shows nothing to those who left.

/** Members, enough for a large room. */
const PEOPLE = 34
/** Enough for many parts. */
const MESSAGES = 10_000

const { leave, delete_room, messages } = teamChat.actions

/** Adds messages that the feeds of the members have to take over. */
async function fill(database: Database, room: number, user: number): Promise<void> {
  await database.write('instance', async (tx) => {
    const { stamp } = await tx.q.selectFrom('rooms').select('stamp').where('id', '=', room).executeTakeFirstOrThrow()
    const said = { room_id: room, user_id: user, version: 1, edited_at: null, reply_to: null, client_id: null }
    const rows = Array.from({ length: MESSAGES }, (_, index) => ({
      ...said,
      content: `${index}`,
      folded: `${index}`,
      timestamp: stamp + 1 + index,
    }))
    for (let first = 0; first < rows.length; first += 500)
      await tx.q
        .insertInto('messages')
        .values(rows.slice(first, first + 500))
        .execute()
    const end = stamp + MESSAGES
    await tx.q.updateTable('rooms').set({ stamp: end, feed_stamp: end }).where('id', '=', room).execute()
  })
}

/** Everything after a cursor. */
async function changesAfter(account: Account, begin: number): Promise<Change[]> {
  const changes: Change[] = []
  for (let [cursor, more] = [begin, true]; more;) {
    const page = await account.delta(cursor, { limit: 5_000 })
    changes.push(...page.changes)
    ;({ cursor, has_more: more } = page)
  }
  return changes
}

const textsOf = (changes: readonly Change[]) =>
  changes.flatMap(({ operation, table, data }) =>
    table === 'svc_messages' && operation !== 'DELETE' ? [data['content']] : [],
  )
const TEXTS = Array.from({ length: MESSAGES }, (_, index) => `${index}`)

const engines = [
  { engine: 'SQLite', isPostgres: false },
  { engine: 'Postgres', isPostgres: true },
]

describe.each(engines)('on $engine, a server that is killed', ({ isPostgres }) => {
  const isMissing = isPostgres && programs === undefined
  let cluster: Cluster | undefined
  beforeAll(async () => {
    if (isPostgres && !isMissing) cluster = await startPostgres()
  })
  afterAll(() => cluster?.stop())

  async function site() {
    const folder = await folderOfTest()
    const dataDir = join(folder, 'data')
    const keyFile = join(folder, 'secret')
    await writeFile(keyFile, 'ab'.repeat(32), { mode: 0o600 })
    const url = await cluster?.database(freshName())
    const shared = url === undefined ? {} : { SVC_DATABASE: url, SVC_SECRET_KEY_FILE: keyFile }
    const env = { HOME: folder, SVC_DATA_DIR: dataDir, SVC_LIMITS: 'off', ...shared }
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCommandWith(env, ...args)
      expect([code, stderr], stdout).toEqual([0, ''])
    }
    await run('user', 'add', 'root', '--role', 'admin', '--generate', '--quiet')
    let server = await startServerProcess(env)
    onTestFinished(() => server.kill())
    const database = url === undefined ? openSqlite(join(dataDir, 'svc.db')) : await openPostgres(url)
    onTestFinished(() => database.close())
    const { port } = new URL(server.url)
    const clock = makeClock()
    clock.pass(Date.now() - clock.now())
    const people: Account[] = []
    for (let index = 0; index < PEOPLE; index += 1)
      people.push(await makeAccount({ url: server.url, database, clock }, { username: `person-${index}` }))
    const [ada, bob, cyd] = people as [Account, Account, Account]
    const room = await channelOf(ada, ...people.slice(1))
    const q = database.read.q
    const roomRow = () => q.selectFrom('rooms').select('feed_stamp').where('id', '=', room).executeTakeFirst()
    expect((await roomRow())?.feed_stamp).not.toBeNull()
    await fill(database, room, ada.id)

    async function restart(): Promise<void> {
      await server.kill()
      server = await startServerProcess(env, port)
    }

    /** Kills the server as soon as a step is met, and starts it again; whether the step was met before the operation was over. */
    async function killAt(step: () => Promise<boolean>, operation: Promise<unknown>): Promise<boolean> {
      let isOver = false as boolean
      const ended = operation.then(
        () => (isOver = true),
        () => (isOver = true),
      )
      let isMet = false
      while (!isOver && !isMet) {
        isMet = await step()
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      await restart()
      await ended
      return isMet
    }
    const count = async (table: 'messages' | 'ended_memberships' | 'room_members') => {
      const { n } = await q
        .selectFrom(table)
        .select(({ fn }) => fn.countAll().as('n'))
        .where('room_id', '=', room)
        .executeTakeFirstOrThrow()
      return Number(n)
    }
    const check = () => run('storage', 'check', '--quiet')
    return { ada, bob, cyd, room, q, roomRow, restart, killAt, count, check }
  }

  test.skipIf(isMissing)('while a feed takes over a large room shows every message once', async () => {
    const { bob, room, q, roomRow, killAt, check } = await site()
    const { feed_stamp: end } = (await roomRow())!
    const at = async () =>
      (
        await q
          .selectFrom('room_members')
          .select('feed_stamp')
          .where('room_id', '=', room)
          .where('user_id', '=', bob.id)
          .executeTakeFirstOrThrow()
      ).feed_stamp
    const begin = await at()
    const isWithin = async () => {
      const stamp = await at()
      return stamp > begin && stamp < end!
    }
    expect(await killAt(isWithin, bob.delta(0))).toBe(true)
    await check()
    const changes = await changesAfter(bob, 0)
    expect(textsOf(changes)).toEqual(TEXTS)
    expect((await bob.everything()).data['svc_messages']).toHaveLength(MESSAGES)
    await check()
  })

  test.skipIf(isMissing)('while a member leaves ends the room for that member alone', async () => {
    const { bob, cyd, room, q, killAt, check } = await site()
    expect(textsOf(await changesAfter(bob, 0))).toEqual(TEXTS)
    const { cursor } = await bob.everything()
    const isWithin = async () =>
      (await q.selectFrom('ended_memberships').select('user_id').where('user_id', '=', bob.id).execute()).length > 0
    expect(await killAt(isWithin, bob.ask(leave, { room_id: room }))).toBe(true)
    await check()
    expect((await bob.call(messages, { room_id: room })).status).toBe(403)
    expect((await bob.everything()).data).toMatchObject({ svc_messages: [], svc_rooms: [] })
    const changes = await changesAfter(bob, cursor)
    expect(textsOf(changes)).toEqual([])
    expect(new Set(changes.map(({ table, data }) => `${table} ${data.id}`)).size).toBe(changes.length)
    expect(changes).toHaveLength(MESSAGES + 1)
    expect(changes.at(-1)).toMatchObject({ operation: 'DELETE', table: 'svc_rooms', data: { id: room } })
    expect(textsOf(await changesAfter(cyd, 0))).toEqual(TEXTS)
    await check()
  })

  test.skipIf(isMissing)('while a room is deleted finishes that, and nobody sees it meanwhile', async () => {
    const { ada, bob, cyd, room, roomRow, restart, killAt, count, check } = await site()
    expect(textsOf(await changesAfter(bob, 0))).toEqual(TEXTS)
    const { cursor } = await bob.everything()
    const areFeedsEnding = async () => (await count('room_members')) === 0
    expect(await killAt(areFeedsEnding, ada.ask(delete_room, { room_id: room }))).toBe(true)
    await check()
    expect([await roomOf(ada, room), await roomOf(cyd, room)]).toEqual([undefined, undefined])
    // The server that was started again goes on; it is killed in the next step, too.
    const areMessagesGoing = async () => (await count('messages')) < MESSAGES
    await expect.poll(areMessagesGoing).toBe(true)
    await restart()
    await check()
    await expect.poll(roomRow).toBeUndefined()
    expect([await count('messages'), await count('ended_memberships')]).toEqual([0, 0])
    const changes = await changesAfter(bob, cursor)
    expect(changes.map(({ operation }) => operation)).toEqual(Array.from({ length: MESSAGES + 1 }, () => 'DELETE'))
    expect(changes.at(-1)).toMatchObject({ table: 'svc_rooms', data: { id: room } })
    expect((await cyd.everything()).data).toMatchObject({ svc_messages: [], svc_rooms: [] })
    await check()
  })
})
