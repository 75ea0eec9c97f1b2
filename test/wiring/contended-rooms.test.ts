import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { AnyAction } from '../../src/contract/contract.ts'
import { syncData } from '../../src/contract/sync-data.ts'
import { teamChat } from '../../src/contract/team-chat.ts'
import { openPostgres } from '../../src/storage/engine/postgres.ts'
import { clientOf, makeAccount, type Account, type Change } from '../support/account.ts'
import { channelOf } from '../support/chat.ts'
import { makeClock } from '../support/clock.ts'
import { runCommandWith } from '../support/command.ts'
import { freshName, programs, startPostgres, type Cluster } from '../support/postgres.ts'
import { makeRandom, type Random } from '../support/random.ts'
import { folderOfTest } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'

// Two servers on one Postgres write to the same large rooms at the same moment: messages are sent, sent again and deleted, members
// leave, are taken out and come back, rooms are deleted, and everybody reads meanwhile. With CONTENDED_ROUNDS=100 for longer.

const ROUNDS = Number(process.env['CONTENDED_ROUNDS'] ?? 2)
const FROM = Number(process.env['CONTENDED_FROM'] ?? 1)
/** Members who only make a room large. */
const SILENT = 32
const ROOMS = 2
/** Whoever stays in the rooms, and whoever comes and goes. */
const [STAYING, MOVING] = [2, 4]
/** Requests under way at once, and requests of each of these. */
const [WRITERS, STEPS] = [12, 16]

const { send, delete: remove, leave, invite, remove_participant, delete_room } = teamChat.actions

const assertAbove = (position: number, before: number) => expect(position, 'positions increase').toBeGreaterThan(before)

/** A device that follows the feed through both servers. */
class Device {
  readonly rows = new Map<string, Change['data']>()
  /** Messages in the order in which they came. */
  readonly came: { id: number; room: number }[] = []
  cursor = 0
  readonly account: Account

  constructor(account: Account) {
    this.account = account
  }

  async read(ask: (cursor: number) => Promise<{ changes: Change[]; cursor: number; has_more: boolean }>) {
    for (let more = true; more;) {
      const page = await ask(this.cursor)
      for (const { table, operation, data, cursor } of page.changes) {
        assertAbove(cursor, this.cursor)
        this.cursor = cursor
        const key = `${table} ${data.id}`
        if (operation === 'DELETE') this.rows.delete(key)
        else {
          if (table === 'svc_messages' && !this.rows.has(key))
            this.came.push({ id: data.id, room: Number(data['room_id']) })
          this.rows.set(key, data)
        }
      }
      assertAbove(page.cursor, this.cursor - 1)
      ;({ cursor: this.cursor, has_more: more } = page)
    }
  }
}

interface Said {
  room: number
  author: Account
  content: string
  id: number
}

describe.skipIf(programs === undefined)('two servers on one Postgres', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startPostgres()
  })
  afterAll(() => cluster.stop())

  async function site() {
    const folder = await folderOfTest()
    const keyFile = join(folder, 'secret')
    await writeFile(keyFile, 'ab'.repeat(32), { mode: 0o600 })
    const url = await cluster.database(freshName())
    const envOf = (name: string) => {
      const own = { HOME: join(folder, name), SVC_DATA_DIR: join(folder, name) }
      return { ...own, SVC_DATABASE: url, SVC_SECRET_KEY_FILE: keyFile, SVC_LIMITS: 'off' }
    }
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCommandWith(envOf('one'), ...args)
      expect([code, stderr], stdout).toEqual([0, ''])
    }
    await run('user', 'add', 'root', '--role', 'admin', '--generate', '--quiet')
    const servers = [await startServerProcess(envOf('one')), await startServerProcess(envOf('two'))]
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.kill()))))
    const database = await openPostgres(url)
    onTestFinished(() => database.close())
    const clock = makeClock()
    clock.pass(Date.now() - clock.now())
    const add = async (name: string, count: number) => {
      const made: Account[] = []
      while (made.length < count)
        made.push(await makeAccount({ url: servers[0]!.url, database, clock }, { username: `${name}-${made.length}` }))
      return made
    }
    return { servers, database, run, add }
  }

  test('keep large rooms whole while both change them', { timeout: 120_000 * (ROUNDS + 1) }, async () => {
    const { servers, database, run, add } = await site()
    const [staying, moving, silent] = [
      await add('staying', STAYING),
      await add('moving', MOVING),
      await add('silent', SILENT),
    ]
    const [ada] = staying as [Account, ...Account[]]
    const devices = [...staying, ...moving].map((account) => new Device(account))
    let serial = 0

    /** Sends a request through one of the servers. Returns its JSON; undefined if it is refused as it may be. */
    async function ask(random: Random, account: Account, action: AnyAction, params: object): Promise<unknown> {
      const reply = await clientOf(random.of(servers).url, account.token).call(action, params)
      if (reply.status === 200) return reply.json
      // The room, the membership or the message ended meanwhile.
      expect([403, 404], reply.bytes.toString()).toContain(reply.status)
      return undefined
    }
    const read = (random: Random, device: Device) =>
      device.read(
        async (cursor) => (await ask(random, device.account, syncData.actions.delta, { cursor, limit: 20 })) as never,
      )

    async function say(random: Random, author: Account, room: number, said: Said[]): Promise<void> {
      const content = `${(serial += 1)}`
      // Sometimes through both servers at the same moment.
      const copies = Array.from({ length: random.below(4) === 0 ? 2 : 1 }, () =>
        ask(random, author, send, { room_id: room, content, client_id: content }),
      )
      const answers = (await Promise.all(copies)) as ({ message: { message_id: number } } | undefined)[]
      const ids = new Set(answers.flatMap((answer) => (answer ? [answer.message.message_id] : [])))
      expect(ids.size, 'a message is posted once').toBeLessThan(2)
      for (const id of ids) said.push({ room, author, content, id })
    }

    async function step(random: Random, rooms: readonly number[], said: Said[], gone: Set<number>): Promise<void> {
      const [kind, room, mover] = [random.below(100), random.of(rooms), random.of(moving)]
      const one = { room_id: room, user_id: mover.id }
      if (kind < 40) await say(random, random.of([...staying, ...moving]), room, said)
      else if (kind < 50 && said.length > 0) {
        const { id, author } = random.of(said)
        if (await ask(random, author, remove, { message_id: id })) gone.add(id)
      } else if (kind < 62) await ask(random, mover, leave, { room_id: room })
      else if (kind < 70) await ask(random, ada, remove_participant, one)
      else if (kind < 85) await ask(random, ada, invite, { room_id: room, user_ids: [mover.id, random.of(moving).id] })
    }

    async function play(random: Random): Promise<void> {
      const opened: number[] = []
      while (opened.length < ROOMS) opened.push(await channelOf(ada, ...staying.slice(1), ...moving, ...silent))
      const [doomed] = opened as [number, ...number[]]
      const said: Said[] = []
      const gone = new Set<number>()
      let isOver = false
      const reading = devices.map(async (device) => {
        while (!isOver) await read(random, device)
      })
      const writing = Array.from({ length: WRITERS }, async (_, writer) => {
        for (let count = 0; count < STEPS; count += 1) {
          await step(random, opened, said, gone)
          if (writer === 0 && count === STEPS - 5) await ask(random, ada, delete_room, { room_id: doomed })
        }
      })
      await Promise.all(writing)
      isOver = true
      await Promise.all(reading)
      await assertWhole(random, opened, said, gone)
    }

    async function assertWhole(random: Random, opened: number[], said: readonly Said[], gone: Set<number>) {
      const [doomed, ...rooms] = opened as [number, ...number[]]
      for (const device of devices) {
        await read(random, device)
        const { data } = await device.account.everything()
        for (const table of ['svc_rooms', 'svc_messages'])
          expect(
            [...device.rows].flatMap(([key, row]) => (key.startsWith(table) ? [row] : [])).sort((a, b) => a.id - b.id),
            `a device holds every row of ${table} as it is`,
          ).toEqual(data[table])
        expect(data['svc_rooms']!.map(({ id }) => id)).not.toContain(doomed)
        const joined = new Set(data['svc_rooms']!.map(({ id }) => id))
        const wanted = said.filter(({ room, id }) => joined.has(room) && !gone.has(id)).map(({ id }) => id)
        const found = data['svc_messages']!.filter((row) => rooms.includes(Number(row['room_id'])))
        expect(
          found.map(({ id }) => id),
          'every message of the rooms of a member, once',
        ).toEqual(wanted.sort((a, b) => a - b))
      }
      for (const room of rooms) {
        // Whoever stayed was told each message once, in the order of the room.
        const times = new Map(
          (
            await database.read.q
              .selectFrom('messages')
              .select(['id', 'timestamp'])
              .where('room_id', '=', room)
              .execute()
          ).map((row) => [row.id, row.timestamp]),
        )
        for (const { came } of devices.slice(0, STAYING)) {
          const ids = came.flatMap((one) => (one.room === room && times.has(one.id) ? [one.id] : []))
          expect(ids).toEqual([...times.keys()].sort((a, b) => times.get(a)! - times.get(b)!))
        }
      }
      await expectNoLeftovers(rooms)
      await run('storage', 'check', '--quiet')
      // Without statistics, Postgres compares each message with each change of a feed.
      const { rows: known } =
        await sql`select reltuples from pg_class where relname = 'changes' and reltuples > 0`.execute(database.read.q)
      expect(known, 'the check has statistics').toHaveLength(1)
    }

    async function expectNoLeftovers(rooms: readonly number[]): Promise<void> {
      const count = async (from: ReturnType<typeof sql>) =>
        Number((await sql<{ n: number }>`select count(*) as n from ${from}`.execute(database.read.q)).rows[0]!.n)
      const orphans = (table: string) =>
        sql`${sql.table(table)} where room_id not in (select room_id from room_members)`
      const leftovers = async () => [
        await count(sql`rooms where id not in (select room_id from room_members)`),
        await count(orphans('messages')),
        await count(orphans('deleted_messages')),
        await count(sql`ended_memberships`),
      ]
      await expect.poll(leftovers).toEqual([0, 0, 0, 0])
      const large = await database.read.q.selectFrom('rooms').select('feed_stamp').where('id', 'in', rooms).execute()
      for (const { feed_stamp } of large) expect(feed_stamp).not.toBeNull()
    }

    for (let seed = FROM; seed < FROM + ROUNDS; seed += 1) {
      try {
        await play(makeRandom(seed))
      } catch (error) {
        throw new Error(`Round ${seed} fails: ${(error as Error).message}`, { cause: error })
      }
    }
  })
})
