import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Database } from '../../src/storage/engine/database.ts'
import { bytesOf, temporaryFilesOf } from '../support/contents.ts'
import { sayMany } from '../support/many-messages.ts'
import { folderOfTest } from '../support/server.ts'
import { openForTest } from '../support/storage.ts'

// Commands that are killed in the middle, as they are built: run again, they complete.

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

const several = <T>(count: number, make: (number: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))

function svc(dataDir: string, ...args: string[]): { stdout: string; status: number | null } {
  const { stdout, status, stderr } = spawnSync(process.execPath, [program, ...args, '--data-dir', dataDir], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`svc ${args.join(' ')} ended with ${status}: ${stderr}`)
  return { stdout, status }
}

/** Runs a command and kills it as soon as the database says that it is under way. */
async function killed(
  dataDir: string,
  isUnderWay: (database: Database) => Promise<boolean>,
  ...args: string[]
): Promise<void> {
  const database = openForTest(join(dataDir, 'svc.db'))
  const child = spawn(process.execPath, [program, ...args, '--data-dir', dataDir], { stdio: 'ignore' })
  const over = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  let ended = false
  void over.then(() => (ended = true))
  while (!ended && !(await isUnderWay(database))) await new Promise((resolve) => setTimeout(resolve, 2))
  child.kill('SIGKILL')
  expect((await over)[1]).toBe('SIGKILL')
}

const count = async (database: Database, table: 'svc_notes' | 'nodes'): Promise<number> => {
  const { rows } = await database.read.q
    .selectFrom(table as 'nodes')
    .select(({ fn }) => fn.countAll().as('rows'))
    .executeTakeFirstOrThrow()
  return Number(rows)
}

test('svc seed', async () => {
  const folder = await folderOfTest()
  const dataDir = join(folder, 'data')
  const file = join(folder, 'seed.json')
  svc(dataDir, 'config', 'set', 'limits.enabled', 'on')
  const seed = {
    users: [
      {
        username: 'ada',
        role: 'admin',
        generate: true,
        rows: { svc_notes: several(6_000, (n) => ({ key: `n${n}`, title: `Note ${n}` })) },
        files: several(500, (n) => ({ path: `/f/${n}.txt`, text: `file ${n}` })),
      },
    ],
  }
  writeFileSync(file, JSON.stringify(seed))
  await killed(dataDir, async (database) => (await count(database, 'svc_notes')) > 0, 'seed', file)
  expect(svc(dataDir, 'seed', file).stdout).toMatch(/unchanged\.\n$/)
  expect(svc(dataDir, 'seed', file).stdout).toBe('Nothing was changed; 6,501 unchanged.\n')
  const database = openForTest(join(dataDir, 'svc.db'))
  expect(await count(database, 'svc_notes')).toBe(6_000)
  // The root, the folder and the files.
  expect(await count(database, 'nodes')).toBe(502)
})

test('svc user import', async () => {
  const folder = await folderOfTest()
  const [from, to] = [join(folder, 'from'), join(folder, 'to')]
  mkdirSync(join(folder, 'tree'))
  for (const n of several(40, (number) => number))
    writeFileSync(join(folder, 'tree', `${n}.bin`), bytesOf(1_000_000, n))
  const seed = {
    users: [
      {
        username: 'ada',
        generate: true,
        rows: { svc_notes: several(3_000, (n) => ({ key: `n${n}`, title: `Note ${n}` })) },
        files: [{ path: '/tree', from: 'tree' }],
      },
    ],
  }
  writeFileSync(join(folder, 'seed.json'), JSON.stringify(seed))
  svc(from, 'seed', join(folder, 'seed.json'))
  const archive = join(folder, 'ada.tar')
  svc(from, 'user', 'export', 'ada', '--to', archive)

  svc(to, 'config', 'set', 'limits.enabled', 'on')
  await killed(
    to,
    async (database) => (await count(database, 'svc_notes')) > 0,
    'user',
    'import',
    archive,
    '--generate',
  )
  // What is there of it lets nobody in, and cannot be enabled.
  expect(JSON.parse(svc(to, 'user', 'list', '--json').stdout)).toMatchObject([{ username: 'ada', state: 'importing' }])
  expect(svc(to, 'user', 'show', 'ada').stdout).toMatch(/State +import not complete\n/)
  expect(() => svc(to, 'user', 'enable', 'ada')).toThrow('The import of "ada" is not complete.')
  expect(svc(to, 'user', 'import', archive, '--generate').stdout).toContain('Imported ada')
  expect(JSON.parse(svc(to, 'user', 'list', '--json').stdout)).toMatchObject([
    { username: 'ada', state: 'active', used_bytes: 40_000_000 },
  ])
  const database = openForTest(join(to, 'svc.db'))
  expect(await count(database, 'svc_notes')).toBe(3_000)
  expect(await count(database, 'nodes')).toBe(42)
  expect((await temporaryFilesOf(to)).length).toBeLessThanOrEqual(1)
})

test('svc user remove --keep-messages', { timeout: 240_000 }, async () => {
  const folder = await folderOfTest()
  const dataDir = join(folder, 'data')
  const seed = {
    users: ['root', 'ada', 'bob'].map((username) => ({
      username,
      role: username === 'root' ? 'admin' : 'user',
      generate: true,
    })),
    rooms: [{ name: 'Engines', creator: 'bob', members: ['ada'] }],
  }
  writeFileSync(join(folder, 'seed.json'), JSON.stringify(seed))
  svc(dataDir, 'seed', join(folder, 'seed.json'))
  const database = openForTest(join(dataDir, 'svc.db'))
  const { q } = database.read
  const ada = await q.selectFrom('users').select('id').where('username', '=', 'ada').executeTakeFirstOrThrow()
  await sayMany(database, { room: 1, user: ada.id, count: 20_000, now: Date.now() })
  const left = async () =>
    Number(
      (
        await q
          .selectFrom('messages')
          .select(({ fn }) => fn.countAll().as('rows'))
          .where('user_id', '=', ada.id)
          .executeTakeFirstOrThrow()
      ).rows,
    )

  const command = ['user', 'remove', 'ada', '--keep-messages', '--yes']
  await killed(dataDir, async () => (await left()) < 20_000, ...command)
  const rest = await left()
  expect(rest).toBeGreaterThan(0)
  expect(rest).toBeLessThan(20_000)
  // What is there of the account lets nobody in, and everything is sound in between.
  expect(JSON.parse(svc(dataDir, 'user', 'show', 'ada', '--json').stdout)).toMatchObject({ state: 'removing' })
  expect(svc(dataDir, 'storage', 'check').stdout).toContain('Everything is intact.')
  expect(JSON.parse(svc(dataDir, ...command, '--json').stdout)).toMatchObject({ messages_kept: rest, removed: true })
  expect(await left()).toBe(0)
  const { rows } = await q
    .selectFrom('messages')
    .innerJoin('users', 'users.id', 'messages.user_id')
    .select(({ fn }) => fn.countAll().as('rows'))
    .where('username', '=', 'Former user')
    .executeTakeFirstOrThrow()
  expect(Number(rows)).toBe(20_000)
  expect(svc(dataDir, 'storage', 'check').stdout).toContain('Everything is intact.')
})

test('svc user import from standard input leaves no copy of the archive behind', async () => {
  const folder = await folderOfTest()
  const dataDir = join(folder, 'data')
  writeFileSync(join(folder, 'seed.json'), JSON.stringify({ users: [{ username: 'ada', generate: true }] }))
  svc(dataDir, 'seed', join(folder, 'seed.json'))
  svc(dataDir, 'user', 'export', 'ada', '--to', join(folder, 'ada.tar'))
  const shell = `"${process.execPath}" "${program}" user import - --as bob --generate --data-dir "${dataDir}" < "${folder}/ada.tar"`
  expect(spawnSync('sh', ['-c', shell], { encoding: 'utf8' })).toMatchObject({ status: 0 })
  const { readdirSync } = await import('node:fs')
  expect(readdirSync(join(dataDir, 'tmp'))).toEqual([])
})
