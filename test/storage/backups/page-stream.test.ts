import { mkdir, open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openCopyFile } from '../../../src/host/sqlite-engine.ts'
import { databasePieces, type Manifest } from '../../../src/storage/backups/backup-manifest.ts'
import { bytesAtHand, openPool } from '../../../src/storage/backups/object-pool.ts'
import { piecesOf } from '../../../src/storage/backups/scratch.ts'
import { beginChapter } from '../../../src/storage/backups/chapter-writer.ts'
import { storeBase } from '../../../src/storage/backups/stream-files.ts'
import { openMoment } from '../../../src/storage/backups/stream-moment.ts'
import type { PageChanges } from '../../../src/storage/engine/page-stream.ts'
import { openSqlitePageStream } from '../../../src/storage/engine/sqlite-page-stream.ts'
import { openSqlite } from '../../../src/storage/engine/sqlite.ts'
import { placeOfTest } from '../../support/backups.ts'
import { bytesOf } from '../../support/contents.ts'
import { folderOfTest } from '../../support/server.ts'

const MIB = 1 << 20

/** A database with a table of blobs, as a server has it open, and its stream. */
async function world() {
  const file = join(await folderOfTest(), 'svc.db')
  const database = openSqlite(file, { flush: 'background' })
  onTestFinished(() => database.close())
  const run = (text: string) => database.write('instance', (tx) => sql.raw(text).execute(tx.q))
  await run('create table contents (sha256 text primary key, size integer, data blob, touched_at integer)')
  await run('create table items (id integer primary key, data blob)')
  const pages = openSqlitePageStream(file)
  onTestFinished(() => pages.close())
  let serial = 0
  const insert = (bytes: number) => {
    const data = bytesOf(bytes, ++serial)
    return database.write('instance', (tx) => sql`insert into items (data) values (${data})`.execute(tx.q))
  }
  return { file, database, pages, run, insert }
}

const kept = (changes: PageChanges | 'too-much' | undefined): PageChanges[] => {
  if (changes === 'too-much') throw new Error('Too many pages.')
  return changes ? [changes] : []
}

const itemsIn = (file: string): unknown[] => {
  const database = openCopyFile(file)
  try {
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    return database.prepare('select id, length(data) as size, hex(substr(data, 1, 32)) as first from items').all()
  } finally {
    database.close()
  }
}

test('a copy taken while it is written to, and what was committed since, are the database', async () => {
  const { file, database, pages, run, insert } = await world()
  for (let item = 0; item < 50; item += 1) await insert(50_000)
  const found = kept(pages.begin())
  const base: Buffer[] = []
  let largestLog = 0
  for (let item = 0; item < 640; item += 1) {
    await insert(100_000)
    if (item % 3 === 0) await run(`update items set data = zeroblob(5000) where id = ${1 + (item % 50)}`)
    // The copy is made piece by piece meanwhile.
    if (base.length * MIB < pages.size()) base.push(await pages.read(base.length * MIB, MIB))
    if (item % 10 === 0) found.push(...kept(pages.next()))
    largestLog = Math.max(largestLog, (await stat(`${file}-wal`)).size)
  }
  // Under constant load the log restarts all the same.
  expect(largestLog).toBeLessThan(32 * MIB)
  await run('delete from items where id % 3 > 0')
  await database.vacuum()
  await insert(70_000)
  found.push(...kept(pages.next()))

  const copy = join(await folderOfTest(), 'copy.db')
  const handle = await open(copy, 'w')
  await handle.writeFile(Buffer.concat(base))
  for (const { pages: changed } of found)
    for (const [page, bytes] of changed) await handle.write(bytes, 0, bytes.length, (page - 1) * bytes.length)
  await handle.truncate(found.at(-1)!.pageCount * pages.pageSize)
  await handle.close()
  const whole = join(await folderOfTest(), 'whole.db')
  await database.copyTo(whole, { without: [] })
  expect(itemsIn(copy)).toEqual(itemsIn(whole))
  expect(pages.next()).toBeUndefined()
}, 60_000)

/** A table of contents and its stream, which begins when `open` is called for the first time. */
async function contentsWorld() {
  const { file, database, run } = await world()
  let now = 0
  const put = (name: string, isLarge = true) =>
    run(`insert into contents values ('${name}', 1, ${isLarge ? 'null' : "x'00'"}, ${++now})`)
  const remove = (...names: string[]) =>
    run(`delete from contents where sha256 in (${names.map((name) => `'${name}'`).join()})`)
  const open = () => {
    const pages = openSqlitePageStream(file)
    onTestFinished(() => pages.close())
    return (which: 'all' | 'new') => pages.contents(which).map(({ sha256 }) => sha256)
  }
  return { database, put, remove, open }
}

test('contents are found once, whoever asks for all of them meanwhile', async () => {
  const { put, open } = await contentsWorld()
  await put('a')
  const names = open()
  expect(names('new')).toEqual([])
  await put('small', false)
  await put('b')
  expect(names('all')).toEqual(['a', 'b'])
  expect([names('new'), names('new')]).toEqual([['b'], []])
})

test('where the newest contents are removed, those that follow are found, and few others', async () => {
  const { database, put, remove, open } = await contentsWorld()
  for (let index = 0; index < 100; index += 1) await put(`old-${index}`)
  const names = open()
  await remove('old-99')
  expect(names('new')).toEqual([])
  await remove('old-98', 'old-97', 'old-96')
  // The new ones get the numbers of those that were removed, and one of these is stored again.
  for (const name of ['a', 'b', 'old-98', 'c']) await put(name)
  const found = names('new')
  expect(found).toEqual(expect.arrayContaining(['a', 'b', 'old-98', 'c']))
  expect(found.length).toBeLessThan(8)
  expect(names('new')).toEqual([])
  await put('d')
  await remove('old-0', 'a')
  await database.vacuum()
  expect(names('new')).toContain('d')
  await remove(...names('all'))
  expect(names('new')).toEqual([])
  await put('e')
  expect(names('new')).toEqual(['e'])
})

test('where the clock was set back, the later state of a time counts, and nothing is lost', async () => {
  const place = await placeOfTest()
  await place.backUp('repo')
  await place.close()
  const folder = join(place.folder, 'repo')
  const file = join(place.dataDir, 'svc.db')
  const pool = openPool(folder, undefined)
  const database = await piecesOf(file)
  const data = await readFile(file)
  let at = 0
  for (const piece of databasePieces(database)) {
    await pool.find([piece])
    await pool.add(piece, bytesAtHand(data.subarray(at, (at += piece.size))))
  }
  await mkdir(join(folder, 'stream'))
  const writer = await beginChapter(folder, undefined, Date.parse('2026-11-26T14:00:00Z'))
  const base: Manifest = {
    format: 1,
    id: writer.chapter.id,
    created_at: '2026-11-26T14:00:00.000Z',
    version: '1.0.0',
    ...place.local.domain.instance.identity,
    migrations: [],
    database,
    files: [],
    blobs: { count: 0, bytes: 0, lists: [] },
    missing: [],
    rows: {},
    totals: { accounts: 0, files: 0, file_bytes: 0, objects: 0, bytes: 0 },
    added: { objects: 0, bytes: 0 },
  }
  await storeBase(folder, writer.chapter, base, undefined)
  const clock = ['14:00:01', '14:05:00', '13:30:00', '13:30:10'].map((time) => Date.parse(`2026-11-26T${time}Z`))
  for (const [index, time] of clock.entries())
    await writer.append({ at: time, pageCount: 0, blobs: [], missing: [], completes: index === 0 }, new Map())
  await writer.close()
  const momentOf = async (time: number | undefined) => {
    const source = await openMoment(folder, undefined, time, { scratch: await folderOfTest(), without: [] })
    await source.close()
    return source.at
  }
  expect(await momentOf(undefined)).toBe(clock[3])
  expect(await momentOf(clock[1])).toBe(clock[3])
  expect(await momentOf(clock[3]! - 1)).toBe(clock[2])
})
