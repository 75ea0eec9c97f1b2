import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Busy } from '../../src/base/errors.ts'
import { shapes } from '../../src/domain/sync/sync.ts'
import { insertAccount } from '../../src/storage/accounts/accounts.ts'
import { first, prepared, type Database } from '../../src/storage/engine/database.ts'
import { migrate } from '../../src/storage/engine/migrations/migrate.ts'
import { openPostgres } from '../../src/storage/engine/postgres.ts'
import { fillPostgres } from '../../src/storage/engine/postgres-fill.ts'
import { ensureTables } from '../../src/storage/engine/synchronised-tables.ts'
import { migrationNames, openCopy } from '../../src/storage/engine/sqlite-copy.ts'
import { lineOfTest } from '../support/line.ts'
import { freshName, programs, startPostgres, type Cluster } from '../support/postgres.ts'
import { folderOfTest } from '../support/server.ts'

const missing = programs === undefined

describe.skipIf(missing)('a database of Postgres', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startPostgres()
  })
  afterAll(() => cluster.stop())

  async function opened(url: string, limits: Parameters<typeof openPostgres>[1] = {}): Promise<Database> {
    const database = await openPostgres(url, limits)
    onTestFinished(() => database.close())
    return database
  }

  /** With every table. */
  async function made(): Promise<{ database: Database; url: string }> {
    const url = await cluster.database(freshName())
    const database = await opened(url)
    await migrate(database)
    await ensureTables(database, shapes)
    return { database, url }
  }

  const addUser = (database: Database, username: string) =>
    database.write('instance', (tx) =>
      insertAccount(
        tx,
        {
          username,
          display_name: username,
          avatar_color: '#336699',
          role: 'user',
          password_hash: '-',
          quota_bytes: null,
        },
        1_000,
      ),
    )

  const put = (database: Database, key: string, value: string) =>
    database.write('instance', async (tx) => {
      await tx.q.insertInto('settings').values({ key, value }).execute()
    })

  const settings = async (database: Database) =>
    (await database.read.q.selectFrom('settings').selectAll().orderBy('key').execute()).map(({ key }) => key)

  /** A line to a database, and the address of the database at its end. */
  async function lineTo(url: string) {
    const { pathname, username, password } = new URL(url)
    const line = await lineOfTest(url.replace(/^postgres(ql)?:/, 'http:'))
    return { line, far: `postgres://${username}:${password}@${new URL(line.url).host}${pathname}` }
  }

  /** Ends the connection on which a process writes, as a network or a restart does. */
  const cut = (database: Database) =>
    sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(database.read.q)

  test('gives values as SQLite does', async () => {
    const { database } = await made()
    await addUser(database, 'ada')
    const { rows } = await sql<
      Record<string, unknown>
    >`select cast(9007199254740991 as bigint) as whole, sum(id) as sum,
      count(*) as count, 1 = 1 as yes, cast(0.1 as double precision) as real, null as nothing,
      '\\x00ff'::bytea as bytes from users`.execute(database.read.q)
    expect(rows).toEqual([
      {
        whole: 2 ** 53 - 1,
        sum: 1,
        count: 1,
        yes: 1,
        real: 0.1,
        nothing: null,
        bytes: Buffer.from([0, 255]),
      },
    ])
    const names = ['b', 'a', 'Z', 'é', 'z', '_']
    for (const name of names) await put(database, name, '')
    // Byte by byte, whatever the language of the server.
    expect(await settings(database)).toEqual(names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
  })

  test('undoes a unit that throws alone, and keeps those it shares a commit with', async () => {
    const { database } = await made()
    const outcomes = await Promise.allSettled([
      put(database, 'one', ''),
      database.write('instance', async (tx) => {
        await tx.q.insertInto('settings').values({ key: 'two', value: '' }).execute()
        throw new Error('no')
      }),
      put(database, 'one', 'again'),
      put(database, 'three', ''),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(await settings(database)).toEqual(['one', 'three'])
  })

  test('refuses a unit that hides a failed statement: its COMMIT is answered with ROLLBACK, and nothing is kept', async () => {
    const { database } = await made()
    const hidden = database.write('instance', async (tx) => {
      await tx.q.insertInto('settings').values({ key: 'one', value: '' }).execute()
      await tx.q
        .insertInto('settings')
        .values({ key: 'one', value: 'again' })
        .execute()
        .catch(() => undefined)
      return 'taken for written'
    })
    await expect(hidden).rejects.toThrow('Postgres answered COMMIT with ROLLBACK')
    expect(await settings(database)).toEqual([])
    await put(database, 'two', '')
    expect(await settings(database)).toEqual(['two'])
  })

  test('lets one server write at a time, so that nothing is decided on what another is just changing', async () => {
    const { database, url } = await made()
    const other = await opened(url)
    await put(database, 'count', '0')
    const query = prepared<{ key: string }, { value: string }>(({ q, p }) =>
      q.selectFrom('settings').select('value').where('key', '=', p.key),
    )
    const raise = (on: Database) =>
      on.write('instance', async (tx) => {
        const { value } = (await first(query(tx, { key: 'count' })))!
        await tx.q
          .updateTable('settings')
          .set({ value: String(Number(value) + 1) })
          .where('key', '=', 'count')
          .execute()
      })
    await Promise.all(Array.from({ length: 200 }, (_, index) => raise(index % 2 ? database : other)))
    expect(await first(query(database.read, { key: 'count' }))).toEqual({ value: '200' })
  })

  test('says that it is busy when another server holds it too long, and goes on then', async () => {
    const { database, url } = await made()
    const impatient = await opened(url, { lock: 100 })
    let free: () => void = () => undefined
    const held = new Promise<void>((resolve) => (free = resolve))
    let started: () => void = () => undefined
    const isHeld = new Promise<void>((resolve) => (started = resolve))
    const holding = database.write('instance', async () => {
      started()
      await held
    })
    await isHeld
    await expect(put(impatient, 'late', '')).rejects.toThrow(Busy)
    free()
    await holding
    await put(impatient, 'in time', '')
    expect(await settings(database)).toEqual(['in time'])
  })

  test('goes on after a connection that was cut in the wait, and whose successor waited in vain', async () => {
    const { database, url } = await made()
    const { line, far } = await lineTo(url)
    const impatient = await opened(far, { lock: 1_000 })
    await put(impatient, 'first', '')
    let free: () => void = () => undefined
    const held = new Promise<void>((resolve) => (free = resolve))
    let started: () => void = () => undefined
    const isHeld = new Promise<void>((resolve) => (started = resolve))
    const holding = database.write('instance', async () => {
      started()
      await held
    })
    await isHeld
    const late = put(impatient, 'late', '').catch((error: unknown) => error)
    const waiting = () => sql`select from pg_locks where locktype = 'advisory' and not granted`.execute(database.read.q)
    while ((await waiting()).rows.length === 0);
    line.cut()
    expect(await late).toBeInstanceOf(Busy)
    free()
    await holding
    await put(impatient, 'in time', '')
    expect(await settings(database)).toEqual(['first', 'in time'])
  })

  test('a snapshot is one state, however long it takes', async () => {
    const { database } = await made()
    await put(database, 'before', '')
    await database
      .snapshot(async (at) => {
        await at.q.selectFrom('settings').selectAll().execute()
        await put(database, 'meanwhile', '')
        expect(await at.q.selectFrom('settings').selectAll().execute()).toHaveLength(1)
        await expect(at.q.deleteFrom('settings').execute()).rejects.toThrow('read-only transaction')
      })
      .catch((error: unknown) => expect(String(error)).toContain('aborted'))
    expect(await settings(database)).toEqual(['before', 'meanwhile'])
  })

  test('a connection that was lost is replaced, and what was not committed is not there', async () => {
    const { database, url } = await made()
    const admin = await opened(url)
    await put(database, 'one', '')
    await cut(admin)
    await put(database, 'two', '')
    const unit = database.write('instance', async (tx) => {
      await tx.q.insertInto('settings').values({ key: 'three', value: '' }).execute()
      await cut(admin)
      await tx.q.insertInto('settings').values({ key: 'four', value: '' }).execute()
    })
    await expect(unit).rejects.toThrow(Busy)
    await put(database, 'five', '')
    expect(await settings(database)).toEqual(['five', 'one', 'two'])
  })

  test('a connection that is lost while a snapshot asks nothing fails that snapshot and nothing else', async () => {
    const { database, url } = await made()
    const admin = await opened(url)
    const reading = database.snapshot(async (at) => {
      await at.q.selectFrom('settings').selectAll().execute()
      await cut(admin)
      // The end of the connection is told in the meantime.
      await settings(admin)
      await at.q.selectFrom('settings').selectAll().execute()
    })
    await expect(reading).rejects.toThrow(Busy)
    expect(await settings(database)).toEqual([])
  })

  test('a server that falls silent fails what waits for it, and is used again when it answers', async () => {
    const { database: direct, url } = await made()
    const { line, far } = await lineTo(url)
    const database = await opened(far, { silence: 300, connect: 1_000 })
    await put(database, 'before', '')
    const reading = database.snapshot(async (at) => {
      await at.q.selectFrom('settings').selectAll().execute()
      line.silence()
      await at.q.selectFrom('settings').selectAll().execute()
    })
    await expect(reading).rejects.toThrow(Busy)
    await expect(put(database, 'silent', '')).rejects.toThrow(Busy)
    await expect(settings(database)).rejects.toThrow(Busy)
    line.restore()
    await put(database, 'after', '')
    expect(await settings(database)).toEqual(['after', 'before'])
    expect(await settings(direct)).toEqual(['after', 'before'])
  })

  test('a connection that falls silent while the server answers others is replaced', async () => {
    const { url } = await made()
    const { line, far } = await lineTo(url)
    const database = await opened(far, { silence: 300 })
    await put(database, 'before', '')
    await settings(database)
    line.silence()
    line.restore()
    // Nothing had begun: the transaction begins on another connection.
    await put(database, 'after', '')
    await expect(settings(database)).rejects.toThrow(Busy)
    expect(await settings(database)).toEqual(['after', 'before'])
  })

  test('a query that takes long is waited for', async () => {
    const { url } = await made()
    const database = await opened(url, { silence: 100 })
    await database.write('instance', (tx) => sql`select pg_sleep(1.5)`.execute(tx.q))
    await sql`select pg_sleep(1.5)`.execute(database.read.q)
  })

  test('a standby is not used, and its successor is', async () => {
    const { database, url } = await made()
    await put(database, 'before', '')
    await cluster.crash()
    await cluster.startStandby()
    await expect(put(database, 'standby', '')).rejects.toThrow(Busy)
    await expect(settings(database)).rejects.toThrow(Busy)
    await expect(openPostgres(url)).rejects.toMatchObject({
      exitCode: 7,
      message: expect.stringContaining('standby') as string,
    })
    const admin = new pg.Client(url)
    await admin.connect()
    await admin.query('select pg_promote()')
    await admin.end()
    await put(database, 'after', '')
    expect(await settings(database)).toEqual(['after', 'before'])
  })

  test('of several hosts the primary is used, and after a fail-over its successor', async () => {
    const name = freshName()
    await cluster.database(name)
    const standby = await startPostgres(cluster)
    onTestFinished(() => standby.stop())
    const hosts = [standby, cluster].map(({ url }) => new URL(url).host)
    const url = `postgres://svc@${hosts.join(',')}/${name}?target_session_attrs=read-write`
    const database = await opened(url)
    await migrate(database)
    const other = await opened(url)
    let heard = 0
    other.listen('room', { moved: () => void (heard += 1), missed: () => undefined })
    await put(database, 'before', '')
    const admin = new pg.Client(`${standby.url}/${name}`)
    await admin.connect()
    await expect.poll(async () => (await admin.query('select from settings')).rowCount, { timeout: 30_000 }).toBe(1)
    await cluster.crash()
    await expect(put(database, 'meanwhile', '')).rejects.toThrow(Busy)
    await admin.query('select pg_promote()')
    await admin.end()
    await put(database, 'after', '')
    expect(await settings(database)).toEqual(['after', 'before'])
    const announced = async () => {
      await database.write('instance', (tx) => Promise.resolve(tx.notify('room', 1, 1)))
      return heard
    }
    await expect.poll(announced, { timeout: 30_000 }).toBeGreaterThan(0)
    await cluster.start()
  })

  test('a primary that was replaced without noticing is left, also by connections that wait', async () => {
    const name = freshName()
    await cluster.database(name)
    const standby = await startPostgres(cluster)
    onTestFinished(() => standby.stop())
    const hosts = [cluster, standby].map(({ url }) => new URL(url).host)
    const database = await opened(`postgres://svc@${hosts.join(',')}/${name}`)
    await migrate(database)
    const admin = new pg.Client(`${standby.url}/${name}`)
    await admin.connect()
    onTestFinished(() => admin.end())
    await expect
      .poll(async () => (await admin.query("select to_regclass('settings') as it")).rows[0])
      .not.toEqual({
        it: null,
      })
    const waiting = database.snapshot((at) => sql`select pg_sleep(600)`.execute(at.q))
    await Promise.all([admin.query('select pg_promote()'), expect(waiting).rejects.toThrow(Busy)])
    await put(database, 'after', '')
    expect((await admin.query('select key from settings')).rows).toEqual([{ key: 'after' }])
  })

  test('writes whatever the isolation that the database has by default, and again after it was read only', async () => {
    const { database, url } = await made()
    const name = new URL(url).pathname.slice(1)
    const admin = new pg.Client(cluster.url + '/postgres')
    await admin.connect()
    onTestFinished(() => admin.end())
    /** Takes effect with the next connections. */
    const alter = async (change: string) => {
      await admin.query(`alter database ${name} set ${change}`)
      await admin.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1', [name])
    }
    await alter("default_transaction_isolation = 'serializable'")
    const isolation = await database.write('instance', (tx) =>
      sql<Record<string, string>>`show transaction_isolation`.execute(tx.q),
    )
    expect(isolation.rows).toEqual([{ transaction_isolation: 'read committed' }])
    await alter('default_transaction_read_only = on')
    await expect(put(database, 'refused', '')).rejects.toThrow(Busy)
    await admin.query(`alter database ${name} set default_transaction_read_only = off`)
    await put(database, 'taken', '')
    expect(await settings(database)).toEqual(['taken'])
  })

  test('without a connection left, says what to do', async () => {
    const { url } = await made()
    const admin = new pg.Client(cluster.url + '/postgres')
    await admin.connect()
    onTestFinished(() => admin.end())
    await admin.query('create role crowded login connection limit 0')
    const crowded = url.replace('//svc@', '//crowded@')
    await expect(openPostgres(crowded)).rejects.toMatchObject({
      exitCode: 7,
      message: expect.stringMatching(
        /has no connection left .*: raise max_connections, or end what uses them/,
      ) as string,
    })
  })

  test('a server that crashes keeps what was acknowledged, and is found again', async () => {
    const { database } = await made()
    const acknowledged: string[] = []
    const writing = Array.from({ length: 40 }, async () => {
      const key = randomUUID()
      await put(database, key, '')
      acknowledged.push(key)
    })
    await Promise.race(writing)
    await cluster.crash()
    await Promise.allSettled(writing)
    await expect(put(database, 'down', '')).rejects.toThrow(Busy)
    await expect(settings(database)).rejects.toThrow(Busy)
    await cluster.start()
    await put(database, 'up', '')
    expect(await settings(database)).toEqual(expect.arrayContaining([...acknowledged, 'up']))
  })

  test('goes into a file of SQLite and into another database, row by row, and goes on counting', async () => {
    const { database } = await made()
    for (const name of ['ada', 'grace', 'gone']) await addUser(database, name)
    await database.write('instance', async (tx) => {
      await tx.q.deleteFrom('users').where('username', '=', 'gone').execute()
      const content = { sha256: 'ab', size: 3, data: Buffer.from([0, 1, 255]), touched_at: 5 }
      await tx.q.insertInto('contents').values(content).execute()
    })
    const folders = Array.from({ length: 450 }, (_, index) => index)
    await database.write('instance', async (tx) => {
      const rest = { room_id: null, sha256: null, trash_id: null, size: 0, version: 1 }
      const node = { ...rest, user_id: 1, type: 'directory' as const, mtime: 1, created_at: 1, updated_at: 1 }
      const rootOf = tx.q.selectFrom('nodes').select('id').where('user_id', '=', 1).where('parent_id', 'is', null)
      const { id: root } = await rootOf.executeTakeFirstOrThrow()
      for (const index of folders)
        await tx.q
          .insertInto('nodes')
          .values({ ...node, parent_id: root, name: `f${index}`, name_key: `f${index}` })
          .execute()
      // A folder that is younger than what lies in it.
      const { id: youngest } = await tx.q
        .insertInto('nodes')
        .values({ ...node, parent_id: root, name: 'z', name_key: 'z' })
        .returning('id')
        .executeTakeFirstOrThrow()
      await tx.q.updateTable('nodes').set({ parent_id: youngest }).where('name', '=', 'f0').execute()
    })
    const file = join(await folderOfTest(), 'copy.db')
    const told: number[] = []
    await database.copyTo(file, { without: ['sessions'], progress: (done, total) => told.push(done / total) })
    expect(told.at(-1)).toBe(1)
    const copy = openCopy(file)
    onTestFinished(() => copy.close())
    expect(await copy.problems(migrationNames)).toEqual([])

    const { database: other } = await made()
    await fillPostgres(other, copy.at)
    expect(await other.damage(false)).toEqual([])
    const planned = sql<{ rows: number }>`select reltuples::int as rows from pg_class where relname = 'nodes'`
    const { rows: statistics } = await planned.execute(other.read.q)
    expect(statistics, 'the planner knows how many rows came').toEqual([{ rows: folders.length + 3 }])
    for (const table of ['users', 'nodes', 'contents', 'counters', 'changes', 'instance'] as const) {
      const all = (on: Database['read']) => on.q.selectFrom(table).selectAll().execute()
      const rows = (await all(database.read)).map((row) => JSON.stringify(row)).sort()
      expect((await all(copy.at)).map((row) => JSON.stringify(row)).sort(), table).toEqual(rows)
      expect((await all(other.read)).map((row) => JSON.stringify(row)).sort(), table).toEqual(rows)
    }
    // The number of somebody who is gone is not given again.
    expect(await addUser(other, 'new')).toBe(4)
    await expect(fillPostgres(other, copy.at)).rejects.toMatchObject({ name: 'NotEmpty', exitCode: 6 })
  })

  test('gives freed room back, and says what it is', async () => {
    const { database } = await made()
    const data = randomBytes(50_000)
    for (let index = 0; index < 20; index++)
      await database.write('instance', (tx) =>
        tx.q
          .insertInto('contents')
          .values({ sha256: String(index), size: data.length, data, touched_at: 0 })
          .execute(),
      )
    await database.write('instance', (tx) => tx.q.deleteFrom('contents').execute())
    const { before, after } = await database.vacuum()
    expect(after).toBeLessThan(before)
    expect(await database.describe()).toMatchObject({ engine: 'PostgreSQL', fsync: 'on', synchronous_commit: 'on' })
  })

  test.each([
    [
      'a server that is not there',
      (url: string) => url.replace(/:\d+\//, ':1/'),
      7,
      /does not answer: .*ECONNREFUSED.* Start it/,
    ],
    [
      'a database that is not there',
      (url: string) => `${url}_not`,
      5,
      /^There is no database .*_not at 127\.0\.0\.1:\d+: create it \(createdb\)\.$/,
    ],
    [
      'a user who is not there',
      (url: string) => url.replace('svc@', 'nobody:secret@'),
      4,
      /^The database .* refuses the user or the password: /,
    ],
  ])('%s is refused in a sentence without a password', async (_, change, exitCode, message) => {
    const url = change(await cluster.database(freshName()))
    const refused = await openPostgres(url).then(
      () => undefined,
      (error: unknown) => error as Error,
    )
    expect(refused).toMatchObject({ exitCode, message: expect.stringMatching(message) as string })
    expect(refused?.message).not.toContain('secret')
  })
})
