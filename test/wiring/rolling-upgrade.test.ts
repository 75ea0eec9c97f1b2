import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { syncAuth } from '../../src/contract/sync-auth.ts'
import { prepared, type Reader } from '../../src/storage/engine/database.ts'
import { migrate, migrations } from '../../src/storage/engine/migrations/migrate.ts'
import type { Migration } from '../../src/storage/engine/migrations/migration.ts'
import { openPostgres } from '../../src/storage/engine/postgres.ts'
import { serve, type RunningServer } from '../../src/wiring/server.ts'
import { clientWith, makeAccount, type Account } from '../support/account.ts'
import { channelOf, heard, say } from '../support/chat.ts'
import { makeClock } from '../support/clock.ts'
import { freshName, programs, startPostgres, type Cluster } from '../support/postgres.ts'
import { folderOfTest } from '../support/server.ts'

// A server of this version works on while one of a version to come migrates: every table gets a column, and there is a new one.

/** More reads at a time than a server has connections for them. */
const AT_ONCE = 10

const allSettings = prepared<Record<string, never>, { key: string }>(({ q }) => q.selectFrom('settings').selectAll())
const keysOf = async (on: Reader) => (await allSettings(on, {})).map(({ key }) => key)

async function versionsOf(url: string) {
  const reader = await openPostgres(url)
  const { rows } = await sql<{ name: string }>`select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r'`.execute(reader.read.q)
  await reader.close()
  const wider: Migration = {
    name: '9001-wider',
    statements: ({ integer }) => [
      ...rows.map(({ name }) => sql`alter table ${sql.table(name)} add column future ${integer} not null default 0`),
      sql`create table future (id ${integer} primary key)`,
    ],
  }
  const narrower: Migration = {
    name: '9002-narrower',
    contracts: true,
    statements: () => [sql`alter table settings drop column future`],
  }
  const version = (all: readonly Migration[]) => async () => {
    const database = await openPostgres(url, { known: all.map(({ name }) => name) })
    try {
      return await migrate(database, all)
    } finally {
      await database.close()
    }
  }
  return { expand: version([...migrations, wider]), contract: version([...migrations, wider, narrower]) }
}

/** Something of everything that accounts do. */
async function use(server: RunningServer, [ada, bob]: readonly [Account, Account], room: number): Promise<void> {
  const title = randomUUID()
  const { login } = syncAuth.actions
  const guess = { ...login.example, username: 'nobody', password: 'not this one' }
  const work = [
    ada.push({ table: 'svc_notes', operation: 'INSERT', data: { title } }),
    ada.put(`/${title}`, title),
    say(bob, room, title),
    clientWith(server.url)
      .call(login, guess)
      .then(({ status }) => expect(status).toBe(401)),
  ]
  await Promise.all([...work, ...Array.from({ length: AT_ONCE }, () => ada.everything())])
  const { data } = await ada.everything()
  expect(data['svc_notes']!.map((note) => note['title'])).toContain(title)
  expect((await heard(ada, room)).map(({ content }) => content)).toContain(title)
}

describe.skipIf(programs === undefined)('a server whose database a newer version migrates', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startPostgres()
  })
  afterAll(() => cluster.stop())

  async function site() {
    const folder = await folderOfTest()
    const keyFile = join(folder, 'secret')
    await writeFile(keyFile, 'ab'.repeat(32), { mode: 0o600 })
    const name = freshName()
    const url = await cluster.database(name)
    const env = { SVC_DATABASE: url, SVC_SECRET_KEY_FILE: keyFile, SVC_LIMITS: 'off', SVC_PORT: '0' }
    const clock = makeClock()
    const start = () => serve({ dataDir: join(folder, 'data'), env, clock, log: false })
    const server = await start()
    let closing: Promise<void> | undefined
    const close = () => (closing ??= server.close())
    onTestFinished(close)
    const admin = new pg.Client(url)
    await admin.connect()
    onTestFinished(() => admin.end())
    return { name, url, clock, start, server, close, admin }
  }

  test('works on; what it needs is removed only when it has ended, and then it does not start', async () => {
    const { url, clock, server, start, close } = await site()
    const database = await openPostgres(url)
    const place = { url: server.url, database, clock }
    const accounts = [await makeAccount(place, { role: 'admin' }), await makeAccount(place)] as const
    const room = await channelOf(...accounts)
    await use(server, accounts, room)
    const read = () => Promise.all(Array.from({ length: AT_ONCE }, () => keysOf(database.read)))
    const write = () => database.write({ accounts: [accounts[0].id] }, keysOf)
    const look = () => database.snapshot(keysOf)
    const before = [await read(), await write(), await look()]

    const { expand, contract } = await versionsOf(url)
    expect(await expand()).toEqual(['9001-wider'])
    expect([await read(), await write()]).toEqual(before.slice(0, 2))
    // A snapshot cannot begin anew; its connection is not used again.
    await look().catch(() => undefined)
    expect(await look()).toEqual(before[2])
    await use(server, accounts, room)
    await database.close()

    await expect(contract()).rejects.toThrow(/^A server of an earlier version uses .*\(9002-narrower\): stop it/)
    await use(server, accounts, room)
    await close()
    expect(await contract()).toEqual(['9002-narrower'])
    await expect(start()).rejects.toThrow(/^A newer version of svc removed .*\(9002-narrower\): update svc/)
  })

  test('is not ready any more if that happens while it is cut off', async () => {
    const { name, clock, server, admin } = await site()
    const ready = async () => {
      // The result is kept for a second.
      clock.pass(2_000)
      return (await fetch(`${server.url}/readyz`)).status
    }
    expect(await ready()).toBe(200)
    await admin.query(`insert into instance (key, value) values ('requires:9002-narrower', '2030')`)
    await admin.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()`,
      [name],
    )
    await expect.poll(ready).toBe(503)
    const login = await clientWith(server.url).call(syncAuth.actions.login, syncAuth.actions.login.example)
    expect([login.status, login.headers.get('retry-after')]).toEqual([503, '10'])
  })
})
