import { execFileSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY } from '../../src/base/clock.ts'
import { putRecord } from '../../src/storage/instance/backup-records.ts'
import { runCommand } from '../support/command.ts'
import { done } from '../support/outside.ts'
import { hasPty, onTerminal } from '../support/pty.ts'
import { folderOfTest } from '../support/server.ts'
import { openForTest } from '../support/storage.ts'

let base = ''
const passphrase = (name: string) => ['--passphrase-file', join(base, name)]

/** An installation that keeps the key of its encrypted backups. */
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'svc-damaged-key-'))
  const dataDir = join(base, 'data')
  await writeFile(join(base, 'right'), 'a difference engine')
  await writeFile(join(base, 'wrong'), 'a different engine')
  const create = ['backup', 'create', '--to', join(base, 'backups'), '--encrypt', ...passphrase('right')]
  for (const words of [['user', 'add', 'ada', '--generate'], create]) await done(dataDir, ...words)
})

afterAll(() => rm(base, { recursive: true }))

async function backedUp() {
  const folder = await folderOfTest()
  await cp(base, folder, { recursive: true })
  const [dataDir, backups] = [join(folder, 'data'), join(folder, 'backups')]
  return { dataDir, backups, key: join(backups, 'key.age'), elsewhere: join(folder, 'elsewhere') }
}

const IS_CHANGED =
  /The passphrase does not open this backup\. If it is the right one, key\.age is damaged: .*svc backup passphrase/
const fifo = (path: string) => execFileSync('mkfifo', [path])

test.each<[string, RegExp, (key: string) => Promise<unknown>]>([
  ['is missing', /key\.age is missing/, (key) => rm(key)],
  ['is empty', /key\.age is damaged/, (key) => truncate(key)],
  ['is cut off', /key\.age is damaged/, (key) => truncate(key, 200)],
  ['is a folder', /key\.age is not a file/, (key) => rm(key).then(() => mkdir(key))],
  ['is a pipe', /key\.age is not a file/, (key) => rm(key).then(() => fifo(key))],
])(
  'a sealed key that %s is named by whoever needs it, and found by the machine that does not',
  async (_name, what, damage) => {
    const { dataDir, backups, key, elsewhere } = await backedUp()
    await damage(key)
    const from = ['--from', backups]
    const shown = await runCommand(elsewhere, 'backup', 'show', 'latest', ...from, ...passphrase('right'))
    expect(shown).toMatchObject({ code: 1, stderr: expect.stringMatching(what) as string })

    const verified = await runCommand(dataDir, 'backup', 'verify', ...from)
    expect(verified).toMatchObject({ code: 1, stdout: expect.stringMatching(what) as string })
    expect([verified.stdout.includes('svc backup passphrase'), verified.stdout.includes('--recheck')]).toEqual([
      true,
      false,
    ])
    const created = await runCommand(dataDir, 'backup', 'create', '--to', backups)
    expect(created).toMatchObject({ code: 3, stderr: expect.stringMatching(what) as string })
  },
  60_000,
)

test('the machine that keeps the key replaces a missing one, and others restore again', async () => {
  const { dataDir, backups, key, elsewhere } = await backedUp()
  await rm(key)
  const from = ['--from', backups]
  const anew = ['--new-passphrase-file', join(base, 'wrong')]
  expect(await runCommand(dataDir, 'backup', 'passphrase', ...from, ...anew)).toMatchObject({ code: 0 })
  expect(await runCommand(dataDir, 'backup', 'verify', ...from)).toMatchObject({ code: 0 })
  const words = ['backup', 'restore', 'latest', ...from, '--data-dir', elsewhere, ...passphrase('wrong')]
  expect(await runCommand(elsewhere, ...words)).toMatchObject({ code: 0 })
}, 60_000)

test('a sealed key with another byte is found where a passphrase is given', async () => {
  const { dataDir, backups, key } = await backedUp()
  const bytes = await readFile(key)
  await writeFile(key, bytes.fill(bytes.at(-1)! ^ 1, bytes.length - 1))
  const { code, stderr } = await runCommand(dataDir, 'backup', 'verify', '--from', backups, ...passphrase('right'))
  expect([code, stderr]).toEqual([4, expect.stringMatching(IS_CHANGED)])
}, 60_000)

test('verify tests a passphrase that is given, also where the key is kept', async () => {
  const { dataDir, backups } = await backedUp()
  const verify = (name: string) => runCommand(dataDir, 'backup', 'verify', '--from', backups, ...passphrase(name))
  expect(await verify('right')).toMatchObject({ code: 0 })
  expect(await verify('wrong')).toMatchObject({ code: 4 })
}, 60_000)

test('a passphrase that is given restores where the key that is kept belongs to other backups', async () => {
  const { dataDir, backups, elsewhere } = await backedUp()
  const kept = (await readdir(join(dataDir, 'keys'))).find((name) => name.startsWith('backup-'))!
  await writeFile(join(dataDir, 'keys', kept), 'ab'.repeat(32))
  const words = ['backup', 'restore', 'latest', '--from', backups, '--data-dir', elsewhere]
  const refused = expect.stringMatching(/opens no backup in .*: it is damaged, or that of other backups/) as string
  expect(await runCommand(dataDir, ...words)).toMatchObject({ code: 8, stderr: refused })
  expect(await runCommand(dataDir, ...words, ...passphrase('right'))).toMatchObject({ code: 0 })
}, 60_000)

test.skipIf(!hasPty)(
  'where the key is kept, a drill asks for the passphrase once in 90 days',
  async () => {
    const { dataDir, backups } = await backedUp()
    await done(dataDir, 'backup', 'create', '--to', backups)
    const drill = ['backup', 'drill', '--from', backups]
    const isUntested = async () => {
      const { checks } = JSON.parse((await runCommand(dataDir, 'doctor', '--json')).stdout) as {
        checks: { id: string; remedy: string | null }[]
      }
      return (
        checks.find(({ id }) => id === 'backup-proven')!.remedy?.startsWith('svc backup passphrase --check') ?? false
      )
    }
    // Given for the original folder, not for this one.
    const untested = expect.stringContaining(`svc backup passphrase --check --from ${backups}`) as string
    expect(await runCommand(dataDir, ...drill)).toMatchObject({ code: 3, stderr: untested })
    expect(await isUntested()).toBe(true)

    const env = { PATH: process.env['PATH']!, HOME: dataDir, SVC_DATA_DIR: dataDir, TERM: 'xterm' }
    const after = 'Passphrase of the backups:'
    expect(await onTerminal(env, drill, [{ after, type: 'a different engine\n' }])).toMatchObject({ code: 4 })
    expect(await isUntested()).toBe(true)
    const asked = await onTerminal(env, drill, [{ after, type: 'a difference engine\n' }])
    expect(asked).toMatchObject({ code: 0, output: expect.stringContaining('Proven: ') as string })
    expect(await isUntested()).toBe(false)
    expect(await runCommand(dataDir, ...drill)).toMatchObject({ code: 0 })

    const database = openForTest(join(dataDir, 'svc.db'))
    const quarterAgo = { at: Date.now() - 91 * DAY, place: backups }
    await database.write('instance', (tx) => putRecord(tx, 'passphrase', quarterAgo))
    await database.close()
    expect(await isUntested()).toBe(true)
    await done(dataDir, 'backup', 'passphrase', '--check', '--from', backups, ...passphrase('right'))
    expect(await isUntested()).toBe(false)
  },
  60_000,
)
