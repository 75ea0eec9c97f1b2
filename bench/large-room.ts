import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inviteIn, openRoomIn } from '../src/domain/chat/chat.ts'
import { openPostgres } from '../src/storage/engine/postgres.ts'
import { openSqlite } from '../src/storage/engine/sqlite.ts'
import { openLocal } from '../src/wiring/local-domain.ts'
import { programs, startPostgres } from '../test/support/postgres.ts'
import { pathOf } from './chat.ts'
import { openConnection, requestTo } from './connection.ts'
import { median, type Figure, type Rounds } from './figure.ts'
import { enlist } from './people.ts'
import { numbers } from './samples.ts'
import { startService } from './server.ts'
import type { Workspace } from './workspace.ts'

/** Members of the rooms; the first is the peer. */
const SIZES = [8, 1_000, 10_000]
const ROUNDS = 3
const SECONDS = 2
/** Members added in one transaction. */
const PART = 1_000

interface Ground {
  token: string
  /** By size. */
  rooms: Map<number, number>
}

/** An installation with one room of each size, and a member of all of them. */
async function prepare(dataDir: string, env: NodeJS.ProcessEnv): Promise<Ground> {
  const local = await openLocal({ dataDir, env })
  const url = env['SVC_DATABASE']
  const database = url === undefined ? openSqlite(local.directory.database) : await openPostgres(url)
  try {
    const people = await database.write('instance', async (tx) => {
      const made = []
      for (const number of numbers(Math.max(...SIZES)))
        made.push(await enlist(tx, local, { username: `person-${number}`, role: number === 0 ? 'admin' : 'user' }))
      return made
    })
    const [sender, ...others] = people.map(({ id }) => id)
    const rooms = new Map<number, number>()
    for (const size of SIZES) {
      const room = await database.write('instance', (tx) =>
        openRoomIn(tx, sender!, { name: `Room of ${size}`, type: 'channel', users: [sender!] }, Date.now()),
      )
      for (let first = 0; first < size - 1; first += PART)
        await database.write('instance', (tx) =>
          inviteIn(tx, room, sender!, others.slice(first, Math.min(first + PART, size - 1)), Date.now()),
        )
      rooms.set(size, room)
    }
    return { token: people[0]!.token, rooms }
  } finally {
    await database.close()
    await local.close()
  }
}

/** Messages a second of one sender, who sends the next one when the last is acknowledged. */
async function sendTo(url: string, token: string, room_id: number): Promise<number> {
  const connection = await openConnection(url)
  const body = Buffer.from(JSON.stringify({ room_id, content: 'The engine weaves algebraic patterns.' }))
  const request = requestTo(url, { method: 'POST', path: pathOf('send'), token, type: 'application/json', body })
  await connection.ask(request)
  const start = performance.now()
  let count = 0
  while (performance.now() - start < SECONDS * 1_000) {
    await connection.ask(request)
    count += 1
  }
  connection.close()
  return (count * 1_000) / (performance.now() - start)
}

async function measure(workspace: Workspace, env: NodeJS.ProcessEnv): Promise<Rounds> {
  const dataDir = workspace.folder('data')
  const { token, rooms } = await prepare(dataDir, env)
  const server = await startService(workspace, dataDir, 'off', env)
  const rates = new Map<number, number[]>(SIZES.map((size) => [size, []]))
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const size of SIZES) {
      const rate = await sendTo(server.url, token, rooms.get(size)!)
      // The first round warms up.
      if (round > 0) rates.get(size)!.push(rate)
    }
  await server.stop()
  const note = SIZES.map((size) => `${size}: ${median(rates.get(size)!).toFixed(1)}`).join(', ')
  return { ours: rates.get(1_000)!, peer: rates.get(8)!, note: `members: messages/s, ${note}` }
}

const common = { unit: 'messages/s', peer: 'sending to 8 members', wanted: { least: 0.5 } } as const

/** One sender in a room of 1,000 members. */
export const largeRoom: Figure = {
  ...common,
  name: 'large-room',
  measure: (workspace) => measure(workspace, {}),
}

/** The same on Postgres. */
export const largeRoomPostgres: Figure = {
  ...common,
  name: 'large-room-postgres',
  missing: () => (programs === undefined ? 'PostgreSQL is not installed' : undefined),
  async measure(workspace) {
    const cluster = await startPostgres()
    try {
      const keyFile = join(workspace.folder('key'), 'secret.key')
      writeFileSync(keyFile, 'ab'.repeat(32), { mode: 0o600 })
      return await measure(workspace, { SVC_DATABASE: await cluster.database('svc'), SVC_SECRET_KEY_FILE: keyFile })
    } finally {
      await cluster.stop()
    }
  },
}
