import { sql } from 'kysely'
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { noteUsageOf } from '../../../src/domain/instance/usage-notes.ts'
import { insertAccount } from '../../../src/storage/accounts/accounts.ts'
import type { Database, WriteScope } from '../../../src/storage/engine/database.ts'
import { serverOfTest } from '../../support/server.ts'

const ACCOUNTS = 2_100
const TODAY = 20_000

/** A database that records the scopes of what is written. */
function watched(database: Database): { database: Database; scopes: WriteScope[] } {
  const scopes: WriteScope[] = []
  const write: Database['write'] = (scope, unit) => {
    scopes.push(scope)
    return database.write(scope, unit)
  }
  return { database: { ...database, write }, scopes }
}

async function world() {
  const { database, env } = await serverOfTest()
  const shown = { display_name: 'Somebody', avatar_color: '#336699' }
  await database.write('instance', async (tx) => {
    for (let index = 0; index < ACCOUNTS; index += 1) {
      const account = {
        username: `user-${index}`,
        ...shown,
        role: 'user',
        password_hash: '-',
        quota_bytes: null,
      } as const
      await insertAccount(tx, account, 1_000)
    }
  })
  return { database, env }
}

const notes = ({ read }: Database) =>
  read.q
    .selectFrom('usage_history')
    .select(['user_id', 'used_bytes'])
    .where('day', '=', TODAY - 1)
    .execute()

test('notes of usage are written for some accounts at a time, and once a day by all servers', async () => {
  const { database } = await world()
  const [first, second] = [watched(database), watched(database)]
  await noteUsageOf(first.database, TODAY)
  const sizes = first.scopes.map((scope) => (scope === 'instance' ? Infinity : (scope.accounts?.length ?? 0)))
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000)
  expect(await notes(database)).toHaveLength(sizes.reduce((sum, size) => sum + size, 0))
  expect((await notes(database)).length).toBeGreaterThanOrEqual(ACCOUNTS)
  await noteUsageOf(second.database, TODAY)
  expect(second.scopes).toEqual([])
})

test.skipIf(inject('postgres') === undefined)(
  'notes of usage that do not change are not written again, and nobody else waits for them',
  { timeout: 60_000 },
  async () => {
    const { database, env } = await world()
    const versions = async () => {
      const { rows } = await sql<{ user_id: number; version: string }>`select user_id, xmin::text as version
        from usage_history order by user_id`.execute(database.read.q)
      return rows
    }
    await noteUsageOf(database, TODAY)
    const before = await versions()
    const { user_id } = before[7]!
    await database.write('instance', async (tx) => {
      await tx.q.updateTable('counters').set({ used_bytes: 5 }).where('user_id', '=', user_id).execute()
      // As after a failure before the end.
      await tx.q.deleteFrom('instance').where('key', '=', 'usage_noted').execute()
    })
    // Another server is writing: a unit for the instance would wait for it.
    const other = new pg.Client(env['SVC_DATABASE'])
    await other.connect()
    onTestFinished(() => other.end())
    await other.query('select pg_advisory_lock_shared(7823001)')
    await noteUsageOf(database, TODAY)
    const after = await versions()
    expect(after.filter(({ version }, index) => version !== before[index]!.version)).toMatchObject([{ user_id }])
  },
)
