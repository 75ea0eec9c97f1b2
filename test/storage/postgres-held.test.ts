import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Busy } from '../../src/base/errors.ts'
import { insertAccount } from '../../src/storage/accounts/accounts.ts'
import type { Database } from '../../src/storage/engine/database.ts'
import { migrate } from '../../src/storage/engine/migrations/migrate.ts'
import { openPostgres } from '../../src/storage/engine/postgres.ts'
import { freshName, programs, startPostgres, type Cluster } from '../support/postgres.ts'

// What others notice when a server hangs inside a transaction, or Postgres waits for a standby that is away.

const LIMIT = 400

describe.skipIf(programs === undefined)('Postgres that makes units wait', () => {
  let cluster: Cluster
  let url: string
  let database: Database
  let admin: pg.Client
  let accounts: number[]

  beforeAll(async () => {
    cluster = await startPostgres()
    url = await cluster.database(freshName())
    database = await openPostgres(url, { lock: LIMIT, commit: LIMIT })
    admin = new pg.Client(url)
    await admin.connect()
    await migrate(database)
    // Of one lane.
    accounts = []
    for (let id = 0; id < 9; id += 1) {
      const shown = { display_name: 'x', avatar_color: '#336699', role: 'user' as const }
      const account = { username: `user-${id}`, ...shown, password_hash: '-', quota_bytes: null }
      accounts.push((await database.write('instance', (tx) => insertAccount(tx, account, 1_000)))!)
    }
    accounts = accounts.filter((id) => id % 4 === accounts[0]! % 4)
  })
  afterAll(async () => {
    await admin.end()
    await database.close()
    await cluster.stop()
  })

  const write = (account: number) => database.write({ accounts: [account] }, () => Promise.resolve(account))
  const put = (key: string) => (tx: { q: Database['read']['q'] }) =>
    sql`insert into settings (key, value) values (${key}, '1')`.execute(tx.q)

  async function standbyIsAway(): Promise<void> {
    await admin.query("alter system set synchronous_standby_names = 'nobody'")
    await admin.query('select pg_reload_conf()')
    await expect
      .poll(async () => (await admin.query('show synchronous_standby_names')).rows[0])
      .toMatchObject({
        synchronous_standby_names: 'nobody',
      })
  }
  async function standbyIsBack(): Promise<void> {
    await admin.query('alter system reset synchronous_standby_names')
    await admin.query('select pg_reload_conf()')
  }
  const connections = async () =>
    (await admin.query("select from pg_stat_activity where application_name like 'svc%' and wait_event = 'SyncRep'"))
      .rowCount!

  test('refuses the units of a held account only, and these keep no others waiting when they come again', async () => {
    const [held, ...others] = accounts as [number, ...number[]]
    const holder = new pg.Client(url)
    await holder.connect()
    onTestFinished(() => holder.end())
    await holder.query(`begin; select 1 from counters where user_id = ${held} for update`)
    const outcomes = await Promise.allSettled([held, ...others].map(write))
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', ...others.map(() => 'fulfilled')])
    expect(outcomes[0]).toMatchObject({ reason: expect.any(Busy) as Busy })
    // Known to be held: the others do not share its transaction, and the server counts as ready.
    const again = await Promise.allSettled([held, ...others].map(write))
    expect(again.map(({ status }) => status)).toEqual(['rejected', ...others.map(() => 'fulfilled')])
    await database.check()
    await holder.query('rollback')
    expect(await write(held)).toBe(held)
  })

  test('refuses units with a scope while a standby is away, without a new connection for each', async () => {
    await standbyIsAway()
    onTestFinished(standbyIsBack)
    const [account] = accounts as [number]
    await expect(database.write({ accounts: [account] }, put('scoped'))).rejects.toThrow(Busy)
    for (let round = 0; round < 5; round += 1)
      await expect(database.write({ accounts: [account] }, put(`again-${round}`))).rejects.toThrow(Busy)
    expect(await connections()).toBe(1)
    await standbyIsBack()
    await expect.poll(() => write(account).catch(() => undefined)).toBe(account)
  })

  test('refuses units for the instance while a standby is away, and closes', async () => {
    const second = await openPostgres(url, { lock: LIMIT, commit: LIMIT })
    await standbyIsAway()
    onTestFinished(standbyIsBack)
    await expect(second.write('instance', put('instance'))).rejects.toThrow(Busy)
    await expect(second.write('instance', put('next'))).rejects.toThrow(Busy)
    await second.close()
    await standbyIsBack()
  })

  test('waits for a long commit of a unit for the instance that waits for no standby', async () => {
    await admin.query(`create function slow() returns trigger language plpgsql as
      $$ begin perform pg_sleep(1.2); return null; end $$`)
    await admin.query(`create constraint trigger slow after insert on settings deferrable initially deferred
      for each row execute function slow()`)
    onTestFinished(async () => void (await admin.query('drop trigger slow on settings')))
    await database.write('instance', put('slow'))
    expect((await admin.query("select from settings where key = 'slow'")).rowCount).toBe(1)
  })
})
