import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runCommand, runCommandWith } from '../support/command.ts'
import { bytesOf } from '../support/contents.ts'
import { clientOf, done, startServe } from '../support/outside.ts'
import { folderOfTest } from '../support/server.ts'
import { fill, smallDisk } from '../support/small-disk.ts'
import { runWarm } from '../support/warm-command.ts'

const MIB = 1 << 20
/** The size of a log that the next transaction moves into the database, bytes. */
const CHECKPOINT_IS_DUE = 1_000 * 4_120

test('a server whose disk is full when a checkpoint is due refuses and loses nothing', async (context) => {
  const made = await smallDisk(24 * MIB)
  if ('reason' in made) return context.skip(made.reason)
  const dataDir = join(made.folder, 'data')
  await done(dataDir, 'user', 'add', 'ada', '--role', 'admin', '--generate')
  await done(dataDir, 'config', 'set', 'limits.enabled', 'false')
  const server = await startServe(dataDir)
  const ada = await clientOf(dataDir, server.url, 'ada')
  const contents: Buffer[] = []
  while ((await stat(join(dataDir, 'svc.db-wal'))).size < CHECKPOINT_IS_DUE) {
    contents.push(bytesOf(60_000, contents.length))
    await ada.upload(`/${contents.length - 1}.bin`, contents.at(-1)!)
  }
  const makeRoom = await fill(made.folder)
  for (let attempt = 0; attempt < 5; attempt += 1)
    await expect(ada.remove(`/${attempt}.bin`)).rejects.toThrow(/: 507 .*"disk_full"/)
  // Whoever ends it waits for the checkpoint.
  expect(await server.end()).toBe(0)
  expect(server.stderr()).not.toContain('"level":60')
  await makeRoom()
  const again = await startServe(dataDir)
  const back = await clientOf(dataDir, again.url, 'ada')
  for (const [number, bytes] of contents.entries())
    expect((await back.download(`/${number}.bin`)).equals(bytes)).toBe(true)
  await back.remove('/0.bin')
  expect(await again.end()).toBe(0)
  await done(dataDir, 'storage', 'check')
})

test('commands on a full disk name it, and leave what was there as it was', async (context) => {
  const [large, small] = [await smallDisk(8 * MIB), await smallDisk(2 * MIB)]
  if ('reason' in large) return context.skip(large.reason)
  if ('reason' in small) return context.skip(small.reason)
  const dataDir = join(await folderOfTest(), 'data')
  await done(dataDir, 'user', 'add', 'ada', '--role', 'admin', '--generate')
  const moved = join(large.folder, 'data')
  await cp(dataDir, moved, { recursive: true })
  const server = await startServe(dataDir)
  const ada = await clientOf(dataDir, server.url, 'ada')
  await ada.upload('/large.bin', bytesOf(3 * MIB, 1))
  const home = join(small.folder, 'home')
  const env = { HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home }
  const svc = (...args: string[]) => runCommandWith(env, ...args)
  const { stdout: password } = await runCommand(dataDir, 'user', 'passwd', 'ada', '--generate', '--json')
  const { password: secret } = JSON.parse(password) as { password: string }
  const login = () =>
    runWarm({ words: ['login', server.url, '--username', 'ada', '--password-stdin'], cwd: home, env, stdin: secret })
  await mkdir(home)
  expect(await login()).toMatchObject({ code: 0 })
  const full = (path: string, code = 1) => ({
    code,
    stderr: expect.stringContaining(`The disk of ${path} is full: free some space, or use a larger one.`) as string,
  })

  expect(await svc('files', 'get', '/large.bin', join(home, 'large.bin'))).toMatchObject(full(join(home, 'large.bin')))
  const makeRoom = await fill(small.folder)
  expect(await login()).toMatchObject(full(join(home, 'svc', 'credentials.json.lock')))
  await makeRoom()
  expect(await svc('whoami')).toMatchObject({ code: 0 })
  expect(await readdir(join(home, 'svc'))).toEqual(['credentials.json'])

  await fill(large.folder)
  expect(await runCommand(moved, 'user', 'list')).toMatchObject(full(join(moved, 'svc.db')))
  expect(await server.end()).toBe(0)
})

test('backups and restores that use up the files of a disk say so, leave nothing, and complete when there is room', async (context) => {
  const made = await smallDisk(512 * MIB, 24)
  if ('reason' in made) return context.skip(made.reason)
  const dataDir = join(await folderOfTest(), 'data')
  const seed = join(dataDir, '..', 'seed.json')
  const files = Array.from({ length: 12 }, (_, number) => ({
    path: `/${number}.bin`,
    base64: bytesOf(70_000, number).toString('base64'),
  }))
  await writeFile(seed, JSON.stringify({ version: 1, users: [{ username: 'ada', generate: true, files }] }))
  await done(dataDir, 'seed', seed)
  const [full, whole] = [join(made.folder, 'backups'), join(dataDir, '..', 'backups')]
  const said = (path: string) => ({
    code: 1,
    stderr: `svc: The disk of ${path} is full: free some space, or use a larger one.\n`,
  })
  expect(await runCommand(dataDir, 'backup', 'create', '--to', full)).toMatchObject(said(full))
  await rm(full, { recursive: true })
  await done(dataDir, 'backup', 'create', '--to', whole)
  const target = join(made.folder, 'restored')
  const restore = () => runCommand(dataDir, 'backup', 'restore', 'latest', '--from', whole, '--data-dir', target)
  expect(await restore()).toMatchObject(said(target))
  expect(await readdir(made.folder)).toEqual([])
  await promisify(execFile)('mount', ['-o', 'remount,nr_inodes=1000', made.folder])
  expect(await restore()).toMatchObject({ code: 0 })
})
