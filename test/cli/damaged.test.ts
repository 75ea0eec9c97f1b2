import { execFileSync } from 'node:child_process'
import { open, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { once } from 'node:events'
import { createServer } from 'node:tls'
import { openCopyFile } from '../../src/host/sqlite-engine.ts'
import { runSql } from '../support/backups.ts'
import { certificates, key } from '../support/certificates.ts'
import { runCommand, runCommandWith } from '../support/command.ts'
import { bytesOf, sha256Of } from '../support/contents.ts'
import { lineOfTest } from '../support/s3-line.ts'
import { folderOfTest } from '../support/server.ts'

test('a damaged database is told with the way back, by every command', async () => {
  const dataDir = join(await folderOfTest(), 'data')
  const made = await runCommand(dataDir, 'init', '--admin', 'root', '--generate')
  expect(made).toMatchObject({ code: 0 })
  for (const suffix of ['-wal', '-shm']) await rm(join(dataDir, `svc.db${suffix}`), { force: true })
  await truncate(join(dataDir, 'svc.db'), 40_000)
  for (const args of [['user', 'list'], ['serve', '--port', '0', '--log-format', 'pretty'], ['doctor']]) {
    const { code, stdout, stderr } = await runCommand(dataDir, ...args)
    expect([args, code]).toEqual([args, 1])
    expect(stdout + stderr).toMatch(/svc backup restore/)
  }
})

const healthOf = (stdout: string): Record<string, string> =>
  Object.fromEntries(
    (JSON.parse(stdout) as { checks: { id: string; health: string }[] }).checks.map(({ id, health }) => [id, health]),
  )

test('svc doctor goes on where a check cannot be made', async () => {
  const dataDir = join(await folderOfTest(), 'data')
  expect(await runCommand(dataDir, 'init', '--admin', 'root', '--generate')).toMatchObject({ code: 0 })
  const store = await lineOfTest('http://127.0.0.1:9')
  store.decide(() => ({ answer: { status: 403, code: 'AccessDenied' } }))
  const env = {
    HOME: dataDir,
    SVC_DATA_DIR: dataDir,
    SVC_BLOBS: `s3://svc-files?endpoint=${store.url}`,
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
  }
  const withoutStore = await runCommandWith(env, 'doctor', '--fix', '--json')
  expect(withoutStore.code).toBe(1)
  expect(healthOf(withoutStore.stdout)).toMatchObject({
    database: 'ok',
    storage: 'failure',
    'orphaned-blobs': 'failure',
    administrator: 'ok',
    'backup-age': 'warning',
  })
  expect(withoutStore.stdout).toMatch(/give the key the rights to list the bucket/)

  runSql(join(dataDir, 'svc.db'), 'alter table users rename column role to rolle')
  const damaged = await runCommand(dataDir, 'doctor', '--json')
  expect(damaged.code).toBe(1)
  expect(healthOf(damaged.stdout)).toMatchObject({ database: 'ok', storage: 'ok', administrator: 'failure' })
})

/** An installation with one file of ada, whose stored bytes a test can damage. */
async function withOneFile() {
  const folder = await folderOfTest()
  const dataDir = join(folder, 'data')
  const content = bytesOf(100_000)
  await writeFile(join(folder, 'file.bin'), content)
  const users = [{ username: 'ada', password: 'analytical engine', files: [{ path: '/file.bin', from: 'file.bin' }] }]
  await writeFile(join(folder, 'seed.json'), JSON.stringify({ version: 1, users }))
  await runCommand(dataDir, 'seed', join(folder, 'seed.json'))
  const sha256 = sha256Of(content)
  const setFirstByte = async (value: number): Promise<void> => {
    const file = await open(join(dataDir, 'blobs', sha256.slice(0, 2), sha256.slice(2, 4), sha256), 'r+')
    await file.write(Buffer.of(value), 0, 1, 0)
    await file.close()
  }
  return { folder, dataDir, content, setFirstByte }
}

test('svc doctor finds damaged pages, missing contents and an expired certificate, with what to do next', async () => {
  const { dataDir, content } = await withOneFile()
  const server = createServer({ key, cert: certificates.expired }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  expect(await runCommand(dataDir, 'config', 'set', 'public_url', `https://127.0.0.1:${port}`)).toMatchObject({
    code: 0,
  })
  const sha256 = sha256Of(content)
  await rm(join(dataDir, 'blobs', sha256.slice(0, 2), sha256.slice(2, 4), sha256))
  // A page that no other check reads.
  const database = openCopyFile(join(dataDir, 'svc.db'))
  const pageOf = `select rootpage as page from sqlite_master where name = 'svc_notes_of_user'`
  const { page } = database.prepare(pageOf).get() as { page: number }
  database.close()
  const file = await open(join(dataDir, 'svc.db'), 'r+')
  await file.write(Buffer.alloc(4_096, 0xa5), 0, 4_096, (page - 1) * 4_096)
  await file.close()

  const { code, stdout } = await runCommand(dataDir, 'doctor', '--json')
  const { checks } = JSON.parse(stdout) as { checks: { id: string; health: string; found: string; remedy: string }[] }
  const failures = checks.filter(({ health }) => health === 'failure')
  expect([code, failures]).toMatchObject([
    1,
    [
      { id: 'database-pages', remedy: expect.stringContaining('svc backup restore latest --from DIR') },
      { id: 'contents', found: expect.stringMatching(/^1 of 1 /), remedy: expect.stringMatching(/^svc storage check/) },
      { id: 'certificate', found: 'expired on 2025-01-01', remedy: expect.stringContaining('renew') },
    ],
  ])
})

test.each([
  ['a folder', 'repo', []],
  ['an encrypted folder', 'sealed', ['--encrypt', '--passphrase-file', 'passphrase']],
  ['an archive', 'svc.tar', []],
])('a damaged content never gets into a backup in %s', async (_, name, more) => {
  const { folder, dataDir, content, setFirstByte } = await withOneFile()
  await writeFile(join(folder, 'passphrase'), 'difference engine\n')
  const flags = more.map((flag) => (flag === 'passphrase' ? join(folder, flag) : flag))
  const backUp = (to: string) => runCommand(dataDir, 'backup', 'create', '--to', join(folder, to), ...flags)
  const verify = (from: string) => {
    const of = from.endsWith('.tar') ? [join(folder, from)] : ['--from', join(folder, from)]
    return runCommand(dataDir, 'backup', 'verify', ...of)
  }

  await setFirstByte(content[0]! ^ 1)
  const without = await backUp(name)
  expect(without.code).toBe(3)
  expect(without.stderr).toMatch(/1 content is missing or damaged/)
  expect(await verify(name)).toMatchObject({ code: 3 })

  await setFirstByte(content[0]!)
  const again = name.endsWith('.tar') ? `again-${name}` : name
  expect(await backUp(again)).toMatchObject({ code: 0, stderr: '' })
  // In a folder, the first backup still lacks it.
  expect(await verify(again)).toMatchObject({ code: name.endsWith('.tar') ? 0 : 3 })
})

test('a damaged file is not exported as if it were sound', async () => {
  const { folder, dataDir, content, setFirstByte } = await withOneFile()
  const to = join(folder, 'ada.tar')
  await setFirstByte(content[0]! ^ 1)
  expect(await runCommand(dataDir, 'user', 'export', 'ada', '--to', to)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'svc: files/file.bin is damaged: restore it from a backup or delete it, and export again.\n',
  })
  await expect(stat(to)).rejects.toThrow('ENOENT')
  await setFirstByte(content[0]!)
  expect(await runCommand(dataDir, 'user', 'export', 'ada', '--to', to)).toMatchObject({ code: 0 })
})

test.each([
  [
    { XDG_CONFIG_HOME: '/dev/null' },
    ['whoami'],
    '/dev/null/svc/credentials.json',
    'a part of the path is not a folder',
  ],
  [{ TMPDIR: '/dev/null' }, ['serve', '--ephemeral', '--port', '0'], '/dev/null', 'a part of the path is not a folder'],
  [{}, ['serve', '--port', '0', '--ready-file', '/proc/svc-test'], '/proc/svc-test', 'it does not exist'],
])('what the system refuses is said in words: %o %j', async (env, args, path, reason) => {
  const dataDir = await folderOfTest()
  const { code, stderr } = await runCommandWith({ HOME: dataDir, SVC_DATA_DIR: join(dataDir, 'data'), ...env }, ...args)
  expect(code).toBe(1)
  expect(stderr).toContain(`${path} cannot be used: ${reason}.`)
})

test('an archive of an account that is compressed is told to be so', async () => {
  const { folder, dataDir } = await withOneFile()
  const [tar, gz] = [join(folder, 'ada.tar'), join(folder, 'ada.tar.gz')]
  await runCommand(dataDir, 'user', 'export', 'ada', '--to', tar)
  await writeFile(gz, gzipSync(await readFile(tar)))
  const { code, stderr } = await runCommand(dataDir, 'user', 'import', gz, '--as', 'bob', '--generate')
  expect([code, stderr]).toEqual([2, expect.stringContaining('it is compressed: decompress it first (gzip -dc)')])
})

test.each([
  ['backup', 'create', '--to', '/proc/svc-test/backups'],
  ['sync', 'init', '/proc/svc-test/folder'],
  ['user', 'list', '--data-dir', '/proc/svc-test/data'],
  ['serve', '--port', '0', '--data-dir', '/proc/svc-test/data'],
])('svc %s %s ends where no folder can be made', async (...args) => {
  const dataDir = join(await folderOfTest(), 'data')
  await runCommand(dataDir, 'init', '--admin', 'root', '--generate')
  const { code, stderr } = await runCommand(dataDir, ...args)
  expect(code).not.toBe(0)
  expect(stderr).not.toBe('')
})

test('a pipe in the place of a file of the data directory is named, and nothing waits for it', async () => {
  const dataDir = join(await folderOfTest(), 'data')
  await runCommand(dataDir, 'init', '--admin', 'root', '--generate')
  for (const name of ['config.json', 'keys/secret.key']) {
    const place = join(dataDir, name)
    await rename(place, `${place}.aside`).catch(() => undefined)
    execFileSync('mkfifo', [place])
    const { code, stderr } = await runCommand(dataDir, 'user', 'list')
    expect([code, stderr]).toEqual([1, `svc: ${place} cannot be used: it is not a regular file.\n`])
    await rm(place)
    await rename(`${place}.aside`, place).catch(() => undefined)
  }
  expect(await runCommand(dataDir, 'user', 'list')).toMatchObject({ code: 0 })
})
