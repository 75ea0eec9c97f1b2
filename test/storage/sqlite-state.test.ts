import { copyFile, rename, symlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlite, sqliteState } from '../../src/storage/engine/sqlite.ts'
import { instanceTable } from '../../src/storage/engine/migrations/migrate.ts'
import type { Database, Writer } from '../../src/storage/engine/database.ts'
import { runSql } from '../support/backups.ts'
import { folderOfTest } from '../support/server.ts'

const put = (key: string) => async (tx: Writer) =>
  void (await tx.q.insertInto('instance').values({ key, value: 'x' }).execute())

const opened = (file: string): Database => {
  const database = openSqlite(file)
  onTestFinished(() => database.close())
  return database
}

/** A file that stood there before it was opened. */
async function databaseOfTest(): Promise<{ file: string; database: Database }> {
  const file = join(await folderOfTest(), 'svc.db')
  const made = openSqlite(file)
  await made.write('instance', async (tx) => void (await instanceTable(made.dialect).execute(tx.q)))
  await made.close()
  return { file, database: opened(file) }
}

test('a state keeps its name until something is written, also for whoever opens it later', async () => {
  const { file, database } = await databaseOfTest()
  expect(await database.state()).toBeUndefined()
  const watch = database.watch()
  await watch.write('instance', put('a'))
  const state = await watch.settle()
  expect(state).toBeDefined()
  expect([await database.state(), await sqliteState(file)]).toEqual([state, state])
  await database.read.q.selectFrom('instance').selectAll().execute()
  await database.snapshot((at) => at.q.selectFrom('instance').selectAll().execute())
  expect(await opened(file).state()).toBe(state)
  await database.close()
  expect(await sqliteState(file)).toBe(state)
  const link = `${file}.link`
  await symlink(file, link)
  expect(await sqliteState(link)).toBe(state)
  await opened(file).write('instance', put('b'))
  expect([await sqliteState(file), await sqliteState(link)]).toEqual([undefined, undefined])
})

test('no two states have the same name', async () => {
  const { database } = await databaseOfTest()
  const names: (string | undefined)[] = []
  for (const key of ['a', 'b', 'c', 'd', 'e']) {
    const watch = database.watch()
    await watch.write('instance', put(key))
    names.push(await watch.settle(), await database.watch().settle())
  }
  expect(names).not.toContain(undefined)
  expect(new Set(names).size).toBe(names.length)
})

test('a change gives it no name back, whatever is done to the times of the file', async () => {
  const { file, database } = await databaseOfTest()
  const state = await database.watch().settle()
  const [mtime] = state!.split(':').slice(4)
  runSql(file, "insert into instance values ('a', 'x')", 'pragma wal_checkpoint(TRUNCATE)')
  expect(await database.state()).toBeUndefined()
  const at = Number(mtime) / 1e9
  await utimes(file, at, at)
  expect(await database.state()).not.toBe(state)
})

const others: Record<string, (file: string, database: Database) => Promise<unknown> | void> = {
  'another process': (file) => runSql(file, "insert into instance values ('a', 'x')"),
  'another process that emptied the log': (file) =>
    runSql(file, "insert into instance values ('a', 'x')", 'pragma wal_checkpoint(TRUNCATE)'),
  'somebody else in this process': (_, database) => database.write('instance', put('a')),
  'a tool that made it smaller': (_, database) => database.vacuum(),
}
test.each(Object.entries(others))('a watch notices %s', async (_, change) => {
  const { file, database } = await databaseOfTest()
  const watch = database.watch()
  await change(file, database)
  await watch.write('instance', put('b'))
  expect(await watch.settle()).toBeUndefined()
  expect(await database.watch().settle()).toBeDefined()
})

test('a watch notices what was under way when it began', async () => {
  const { database } = await databaseOfTest()
  let go = (): void => undefined
  const waiting = new Promise<void>((resolve) => (go = resolve))
  const writing = database.write('instance', async (tx) => {
    await waiting
    await put('a')(tx)
  })
  await new Promise((resolve) => setTimeout(resolve, 20))
  const watch = database.watch()
  go()
  await writing
  expect(await watch.settle()).toBeUndefined()
})

test('there is no name while somebody still reads from the log', async () => {
  const { database } = await databaseOfTest()
  const watch = database.watch()
  await watch.write('instance', put('a'))
  await database.snapshot(async (at) => {
    await at.q.selectFrom('instance').selectAll().execute()
    await watch.write('instance', put('b'))
    expect(await watch.settle()).toBeUndefined()
  })
  expect(await watch.settle()).toBeDefined()
})

test('there is none for a file that was put in the place of the one that is open', async () => {
  const { file, database } = await databaseOfTest()
  const watch = database.watch()
  await copyFile(file, `${file}.new`)
  await rename(`${file}.new`, file)
  expect(await watch.settle()).toBeUndefined()
})
