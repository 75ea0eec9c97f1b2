import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { syncData } from '../../../src/contract/sync-data.ts'
import { teamChat } from '../../../src/contract/team-chat.ts'
import { openPostgres } from '../../../src/storage/engine/postgres.ts'
import { clientOf, makeAccount, type Client } from '../../support/account.ts'
import { channelOf } from '../../support/chat.ts'
import { makeClock } from '../../support/clock.ts'
import { bytesOf } from '../../support/contents.ts'
import { freshName, programs } from '../../support/postgres.ts'
import { makeRandom, type Random } from '../../support/random.ts'
import { s3Environment, s3OfFile } from '../../support/s3.ts'
import { lineOfTest } from '../../support/s3-line.ts'
import { folderOfTest } from '../../support/server.ts'
import { assertAccount, assertRoom } from './checks.ts'
import { onePostgres, patroniPair, type HistoryDatabase } from './database.ts'
import { Device } from './device.ts'
import { chosenFaults, faultsOf, type Fault, type Ground } from './faults.ts'
import { LIST, nothingAsked, type Asked } from './recorded.ts'
import { startServers, type Servers } from './servers.ts'

const ROUNDS = Number(process.env['HISTORY_ROUNDS'] ?? 1)
const FROM = Number(process.env['HISTORY_FROM'] ?? 1)
/** Without them, every round plays the usual ones. */
const FAULTS = chosenFaults(process.env['HISTORY_FAULTS'])
const ACCOUNTS = 4
/** Devices of each account that write; one more only reads. */
const WRITERS = 2
/** Members who join in the first round and only make the room large. */
const SILENT = 30
/** Operations of each writing device in a round. */
const STEPS = 30
/** Between further operations, while faults go on; ms. */
const SLOW = 300
/** Of so many rounds, the second begins with a restore. */
const RESTORED = 10
const CONTENTS = [bytesOf(100, 1), bytesOf(20_000, 2), bytesOf(100_000, 3), bytesOf(150_000, 4)]

/** What the servers hold, and for whom. */
interface Site extends Ground {
  token: string
  room: number
}

interface Member {
  client: Client
  asked: Asked
  writers: Device[]
  reader: Device
}

function report(seed: number, faults: readonly Fault[], ms: number): void {
  console.log(`Round ${seed}: ${faults.map(({ name }) => name).join(', ')}; ${Math.round(ms / 1_000)} s`)
}

describe.skipIf(programs === undefined)(
  'three servers under load while servers, clocks, database and store fail',
  () => {
    let cluster: HistoryDatabase
    beforeAll(async () => {
      cluster = await (FAULTS?.includes('failover') ? patroniPair() : onePostgres())
    })
    afterAll(() => cluster.stop())
    const s3 = s3OfFile()

    /** The room becomes so large that the feeds of its members take its messages over, while these are sent. */
    async function grow({ servers, database: name, token, room }: Site, random: Random): Promise<void> {
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
    /** At least so many operations, then slowly on until something else is over. */
    async function write(device: Device, random: Random, steps = STEPS, isOver = () => true): Promise<void> {
      for (let step = 0; step < steps || !isOver(); step += 1) {
        if (step >= steps) await new Promise((resolve) => setTimeout(resolve, SLOW))
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
    async function goBack(ground: Site, members: readonly Member[], random: Random): Promise<void> {
      const { servers } = ground
      await servers.backUp()
      const before = structuredClone(members.map(({ asked }) => asked))
      const devices = members.flatMap(({ reader, writers }) => [reader, ...writers])
      await Promise.all(devices.map((device) => write(device, random, STEPS / 2)))
      ground.database = freshName()
      await cluster.database(ground.database)
      await servers.goBack({ database: ground.database, bucket: (await s3.bucket()).name })
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
      let isCalm = false
      const writers = members.flatMap((member) =>
        member.writers.map((device) => write(device, random, STEPS, () => isCalm)),
      )
      for (const event of events) {
        await new Promise((resolve) => setTimeout(resolve, 200 + random.below(400)))
        await event()
      }
      isCalm = true
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
        await cluster.database(name)
        const places = { hosts: cluster.hosts, database: name, store: store.url, bucket: bucket.name }
        const isCut = FAULTS !== undefined
        const servers = await startServers(await folderOfTest(), { ...places, env: s3Environment }, { isCut })
        try {
          const { members, ...found } = await addMembers(servers, makeRandom(FROM))
          const ground = { servers, cluster, database: name, store, ...found }
          for (let seed = FROM; seed < FROM + ROUNDS; seed += 1) {
            const random = makeRandom(seed)
            try {
              if ((seed - FROM) % RESTORED === 1) await goBack(ground, members, random)
              const faults = faultsOf(ground, random, FAULTS)
              const events = faults.map((fault) => fault.play)
              const began = performance.now()
              if (seed === FROM) events.splice(1, 0, () => grow(ground, random))
              await play(members, events, random)
              if (FAULTS) report(seed, faults, performance.now() - began)
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
