import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../../src/storage/engine/database.ts'
import { appliedMigrations, makeSchema, migrations } from '../../../src/storage/engine/migrations/migrate.ts'
import { openPostgres } from '../../../src/storage/engine/postgres.ts'
import { ended, startCommandWith } from '../../support/command.ts'
import { freshName, programs, startPostgres, type Cluster } from '../../support/postgres.ts'
import { makeRandom } from '../../support/random.ts'
import { folderOfTest } from '../../support/server.ts'
import { openForTest } from '../../support/storage.ts'

// An installation of the first version with many messages is upgraded, and killed at random moments meanwhile. With
// UPGRADE_ROWS=1000000, the time and memory of the upgrade are printed for a large one.

const ROWS = Number(process.env['UPGRADE_ROWS'] ?? 20_000)
const KILLS = Number(process.env['UPGRADE_KILLS'] ?? 3)
/** Beyond the start of a command, an upgrade may take so many bytes, however many rows there are. */
const MOST_BYTES = 300e6

const fixture = fileURLToPath(new URL('first-version.tar.gz', import.meta.url))
const OLD = ['0001-initial', '0002-session-api', '0003-administration']
const NEW = migrations.map(({ name }) => name)
/** What the large one needs of the fixture, in the order of its references. */
const COPIED = ['instance', 'users', 'counters', 'rooms', 'room_members'] as const

/** Copies the accounts and the room of the fixture to an empty database with the schema of its version. */
async function copyTo(database: Database, from: Database): Promise<void> {
  await database.write('instance', async (tx) => {
    await makeSchema(tx, database.dialect, OLD)
    for (const table of COPIED) {
      const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(from.read.q)
      for (const row of rows)
        await sql`insert into ${sql.table(table)} (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
          values (${sql.join(Object.values(row))})`.execute(tx.q)
    }
  })
}

/** Adds messages to the room, with an entry for each in the feed of its author. */
async function grow(database: Database): Promise<void> {
  const numbers = sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${ROWS})`
  await database.write('instance', async (tx) => {
    await sql`insert into messages (id, room_id, user_id, content, timestamp) ${numbers}
      select 1000 + i, m.room_id, m.user_id, 'The engine weaves algebraic patterns, ' || i, 1000 + i
      from n, (select room_id, user_id from room_members order by room_id, user_id limit 1) m`.execute(tx.q)
    await sql`insert into changes (user_id, tbl, row_id, seq, born, deleted, changed_at)
      select user_id, 'svc_messages', id, 1000 + id, 1000 + id, 0, timestamp from messages where id > 1000`.execute(
      tx.q,
    )
    await sql`update counters set seq = ${3_000 + ROWS}`.execute(tx.q)
  })
}

/** The largest memory of a running process, bytes; 0 after its end. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1_024
  } catch {
    return 0
  }
}

const engines = [
  { engine: 'SQLite', isPostgres: false },
  { engine: 'Postgres', isPostgres: true },
]

describe.each(engines)('on $engine, an installation with many rows', ({ engine, isPostgres }) => {
  const isMissing = process.platform !== 'linux' || (isPostgres && programs === undefined)
  let cluster: Cluster | undefined
  beforeAll(async () => {
    if (isPostgres && !isMissing) cluster = await startPostgres()
  })
  afterAll(() => cluster?.stop())

  async function site() {
    const folder = await folderOfTest()
    execFileSync('tar', ['xzf', fixture, '-C', folder])
    const own = openForTest(join(folder, 'svc.db'))
    if (!cluster) {
      await grow(own)
      await own.close()
      return { folder, env: { HOME: folder, SVC_DATA_DIR: folder }, open: () => openForTest(join(folder, 'svc.db')) }
    }
    const url = await cluster.database(freshName())
    const database = await openPostgres(url)
    await copyTo(database, own)
    await grow(database)
    await Promise.all([own.close(), database.close()])
    const dataDir = join(folder, 'data')
    const keyFile = join(folder, 'secret')
    await writeFile(keyFile, readFileSync(join(folder, 'keys', 'secret.key')), { mode: 0o600 })
    const env = { HOME: dataDir, SVC_DATA_DIR: dataDir, SVC_DATABASE: url, SVC_SECRET_KEY_FILE: keyFile }
    return { folder: dataDir, env, open: () => openPostgres(url) }
  }

  test.skipIf(isMissing)(
    'is upgraded in little memory, whenever it is killed before',
    { timeout: 3_600_000 },
    async () => {
      const { folder, env, open } = await site()
      const random = makeRandom(ROWS)
      const state = async () => {
        const database = await open()
        const { rows } = await sql<{ n: number }>`select count(*) as n from messages where id > 1000`.execute(
          database.read.q,
        )
        const applied = await appliedMigrations(database.read)
        await database.close()
        return { applied, messages: Number(rows[0]!.n) }
      }
      /** Starts a command, which upgrades first, and kills it after a while. */
      async function run(ms = Infinity): Promise<{ code: number | null; stderr: string; took: number; peak: number }> {
        const start = performance.now()
        const child = startCommandWith(env, 'user', 'list')
        let peak = 0
        const timer = setInterval(() => {
          peak = Math.max(peak, peakOf(child.pid!))
          if (performance.now() - start > ms) child.kill('SIGKILL')
        }, 5)
        const { code, stderr } = await ended(child)
        clearInterval(timer)
        return { code, stderr, took: performance.now() - start, peak }
      }
      for (let kills = 0; kills < KILLS; kills += 1) {
        await run(200 + random.below(2_000 + ROWS / 200))
        const { applied, messages } = await state()
        expect([OLD, NEW]).toContainEqual(applied)
        expect(messages).toBe(ROWS)
        console.log(`${engine}: killed with ${applied.length} migrations applied`)
        if (applied.length === NEW.length) break
      }
      const { code, stderr, took, peak } = await run()
      expect([code, stderr]).toEqual([0, ''])
      const { peak: usual, took: usually } = await run()
      console.log(
        `${engine}: ${ROWS} messages in ${Math.round(took)} ms with ${Math.round(peak / 1e6)} MB; without an upgrade ${Math.round(usually)} ms and ${Math.round(usual / 1e6)} MB`,
      )
      expect(peak).toBeLessThan(usual + MOST_BYTES)
      expect(await state()).toEqual({ applied: NEW, messages: ROWS })
      expect((await readdir(folder)).filter((name) => name.startsWith('.upgrade-'))).toEqual([])
    },
  )
})
