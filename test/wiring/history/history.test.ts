import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import pg from 'pg'
import { MINUTE } from '../../../src/base/clock.ts'
import { syncData } from '../../../src/contract/sync-data.ts'
import { teamChat } from '../../../src/contract/team-chat.ts'
import { openPostgres } from '../../../src/storage/engine/postgres.ts'
import { clientOf, makeAccount, type Client } from '../../support/account.ts'
import { channelOf } from '../../support/chat.ts'
import { makeClock } from '../../support/clock.ts'
import { bytesOf } from '../../support/contents.ts'
import { freshName, programs, startPostgres, type Cluster } from '../../support/postgres.ts'
import { makeRandom, type Random } from '../../support/random.ts'
import { s3Environment, s3OfFile } from '../../support/s3.ts'
import { lineOfTest, type Fate, type Line } from '../../support/s3-line.ts'
import { folderOfTest } from '../../support/server.ts'
import { assertAccount, assertRoom } from './checks.ts'
import { Device } from './device.ts'
import { LIST, nothingAsked, type Asked } from './recorded.ts'
import { startServers, type Servers } from './servers.ts'

const ROUNDS = Number(process.env['HISTORY_ROUNDS'] ?? 1)
const FROM = Number(process.env['HISTORY_FROM'] ?? 1)
const SERVERS = 3
const ACCOUNTS = 4
/** Devices of each account that write; one more only reads. */
const WRITERS = 2
/** Members who join in the first round and only make the room large. */
const SILENT = 30
/** Operations of each writing device in a round. */
const STEPS = 30
/** Of so many rounds, the second begins with a restore. */
const RESTORED = 10
const CONTENTS = [bytesOf(100, 1), bytesOf(20_000, 2), bytesOf(100_000, 3), bytesOf(150_000, 4)]

/** What can fail. */
interface Ground {
  servers: Servers
  token: string
  room: number
  database: string
  store: Line
}

interface Member {
  client: Client
  asked: Asked
  writers: Device[]
  reader: Device
}

describe.skipIf(programs === undefined)(
  'three servers under load while servers, clocks, database and store fail',
  () => {
    let cluster: Cluster
    beforeAll(async () => {
      cluster = await startPostgres()
    })
    afterAll(() => cluster.stop())
    const s3 = s3OfFile()

    async function cutConnections(database: string): Promise<void> {
      const client = new pg.Client(`${cluster.url}/postgres`)
      await client.connect()
      await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database])
      await client.end()
    }

    /** The store refuses, loses and cuts off some requests for a while. */
    async function failStore(store: Line, random: Random): Promise<void> {
      const fates: Fate[] = [
        { answer: { status: 500, code: 'InternalError' } },
        { answer: { status: 503, code: 'SlowDown' } },
        { loseAnswer: true },
        { cutAfter: 1 },
      ]
      store.decide(() => (random.below(2) === 0 ? random.of(fates) : undefined))
      await new Promise((resolve) => setTimeout(resolve, 500 + random.below(1_000)))
      store.decide(() => undefined)
    }

    /** The room becomes so large that the feeds of its members take its messages over, while these are sent. */
    async function grow({ servers, database: name, token, room }: Ground, random: Random): Promise<void> {
      const database = await openPostgres(await cluster.database(name))
      const ground = { url: servers.any(random), database, clock: makeClock() }
      const silent: number[] = []
      try {
        for (let index = 0; index < SILENT; index += 1)
          silent.push((await makeAccount(ground, { username: `silent-${index}` })).id)
      } finally {
        await database.close()
      }
      for (let status = 0; status !== 200;) {
        const client = clientOf(servers.any(random), token)
        const reply = await client
          .call(teamChat.actions.invite, { room_id: room, user_ids: silent })
          .catch(() => undefined)
        status = reply?.status ?? 0
        if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }

    /** What fails in a round: everything once, in an order that the seed decides. */
    function faults({ servers, database, store }: Ground, random: Random): (() => Promise<void>)[] {
      const all = [
        () => servers.kill(random.below(SERVERS)),
        () => servers.kill(random.below(SERVERS)),
        () => servers.pause(random.below(SERVERS), 300 + random.below(700)),
        () => cutConnections(database),
        () => failStore(store, random),
        () => servers.setClock(random.below(SERVERS), (random.below(20) - 10) * MINUTE),
        () => cluster.crash().then(() => cluster.start()),
      ]
      return all
        .map((fault) => ({ fault, at: random.below(1_000) }))
        .sort((a, b) => a.at - b.at)
        .map(({ fault }) => fault)
    }

    async function addMembers(
      servers: Servers,
      random: Random,
    ): Promise<{ members: Member[]; token: string; room: number }> {
      const url = servers.any(random)
      const accounts: { id: number; client: Client; token: string }[] = []
      for (let index = 0; index < ACCOUNTS; index += 1) {
        await servers.run('user', 'add', `user-${index}`, '--generate')
        const minted = await servers.run('token', 'mint', '--user', `user-${index}`, '--ttl', '30d', '--json')
        const { token } = JSON.parse(minted) as { token: string }
        const listed = JSON.parse(await servers.run('user', 'show', `user-${index}`, '--json')) as { id: number }
        accounts.push({ id: listed.id, token, client: clientOf(url, token) })
      }
      const room = await channelOf(accounts[0]!.client as never, ...(accounts.slice(1) as never[]))
      const members = await Promise.all(
        accounts.map(async ({ client, token }, member) => {
          const asked = nothingAsked()
          const insert = { operation: 'INSERT', table: 'svc_notes', data: { title: LIST } } as const
          const list = (await client.ask(syncData.actions.push, { operations: [insert] })).results[0]!.id!
          const device = (name: string) => {
            const paths = [1, 2].map((file) => `/${name}/${file}`)
            return new Device({ servers, random, token, room, asked, list, contents: CONTENTS, paths })
          }
          const writers = Array.from({ length: WRITERS }, (_, index) => device(`device-${member}-${index}`))
          return { client, asked, writers, reader: device('reader') }
        }),
      )
      return { members, token: accounts[0]!.token, room }
    }

    let serial = 0
    async function write(device: Device, random: Random, steps = STEPS): Promise<void> {
      for (let step = 0; step < steps; step += 1) {
        const kind = random.below(100)
        const name = `${(serial += 1)}`
        if (kind < 30) await device.note(`note-${name}`)
        else if (kind < 50) await device.append(`item-${name}`)
        else if (kind < 70) await device.say(`message-${name}`)
        else if (kind < 85) await device.upload()
        else await device.follow()
      }
    }

    /** What is written after a backup is lost by its restore, which every device notices. */
    async function goBack(ground: Ground, members: readonly Member[], random: Random): Promise<void> {
      const { servers } = ground
      await servers.backUp()
      const before = structuredClone(members.map(({ asked }) => asked))
      const devices = members.flatMap(({ reader, writers }) => [reader, ...writers])
      await Promise.all(devices.map((device) => write(device, random, STEPS / 2)))
      ground.database = freshName()
      const bucket = await s3.bucket()
      await servers.goBack({
        SVC_DATABASE: await cluster.database(ground.database),
        SVC_BLOBS: bucket.address({ endpoint: ground.store.url }),
      })
      for (const [index, { asked }] of members.entries()) Object.assign(asked, before[index])
      for (const device of devices) while (await device.follow());
    }

    /** Everybody writes and reads while one fault follows the other; then all must agree. */
    async function play(
      members: readonly Member[],
      events: readonly (() => Promise<void>)[],
      random: Random,
    ): Promise<void> {
      let isOver = false
      const readers = members.map(async ({ reader }) => {
        while (!isOver) await reader.follow(1)
      })
      const writers = members.flatMap((member) => member.writers.map((device) => write(device, random)))
      for (const event of events) {
        await new Promise((resolve) => setTimeout(resolve, 200 + random.below(400)))
        await event()
      }
      await Promise.all(writers)
      isOver = true
      await Promise.all(readers)
      for (const { writers, reader } of members) {
        while (await reader.follow());
        const isWoken = await reader.isWokenBy(() => writers[0]!.note(`note-${(serial += 1)}`))
        expect(isWoken, 'a request that waits is answered by a change').toBe(true)
      }
      for (const { client, asked, writers, reader } of members) {
        const devices = [reader, ...writers]
        for (const device of devices) while (await device.follow());
        await assertAccount(
          client,
          asked,
          devices.map(({ shown }) => shown),
        )
      }
      assertRoom(members.map(({ asked, reader }) => ({ asked, shown: [reader.shown] })))
    }

    test(
      'lose nothing, repeat nothing, and show everybody one order',
      { timeout: 120_000 * (ROUNDS + 1) },
      async () => {
        const name = freshName()
        const bucket = await s3.bucket()
        const store = await lineOfTest(bucket.endpoint)
        const address = bucket.address({ endpoint: store.url })
        const shared = { SVC_DATABASE: await cluster.database(name), SVC_BLOBS: address, ...s3Environment }
        const servers = await startServers(await folderOfTest(), SERVERS, shared)
        try {
          const { members, ...found } = await addMembers(servers, makeRandom(FROM))
          const ground = { servers, database: name, store, ...found }
          for (let seed = FROM; seed < FROM + ROUNDS; seed += 1) {
            const random = makeRandom(seed)
            try {
              if ((seed - FROM) % RESTORED === 1) await goBack(ground, members, random)
              const events = faults(ground, random)
              if (seed === FROM) events.splice(1, 0, () => grow(ground, random))
              await play(members, events, random)
            } catch (error) {
              throw new Error(`Round ${seed} fails: ${(error as Error).message}`, { cause: error })
            }
          }
          await servers.run('storage', 'check')
        } finally {
          await servers.stop()
        }
      },
    )
  },
)
