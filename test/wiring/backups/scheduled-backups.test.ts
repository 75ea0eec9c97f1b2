import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../../src/base/clock.ts'
import { openLocal, type Local } from '../../../src/wiring/local-domain.ts'
import { startScheduledBackups } from '../../../src/wiring/backups/scheduled-backups.ts'
import { makeClock, type TestClock } from '../../support/clock.ts'
import { folderOfTest } from '../../support/server.ts'

interface World {
  local: Local
  clock: TestClock
  folder: string
  /** A program that stands in for svc: it notes its arguments and does what `script` says. */
  start(script: string): { logged: [string, object][]; stop: () => Promise<void> }
  /** The command lines it was run with. */
  runs(): Promise<string[]>
}

async function world(): Promise<World> {
  const folder = await folderOfTest()
  // Half past two in the night of this machine's zone.
  const clock = makeClock(new Date(2026, 10, 21, 2, 30).getTime())
  const local = await openLocal({ dataDir: join(folder, 'data'), env: {}, clock })
  onTestFinished(() => local.close())
  const runs = join(folder, 'runs.txt')
  await writeFile(runs, '')
  await local.domain.instance.settings.store('backup.to', join(folder, 'repo'))
  await local.domain.instance.settings.store('backup.schedule', '0 3 * * *')
  await local.domain.backups.scheduled('0 3 * * *', join(folder, 'repo'))
  return {
    local,
    clock,
    folder,
    start(script) {
      const logged: [string, object][] = []
      const program = `require('fs').appendFileSync(${JSON.stringify(runs)}, process.argv.slice(1).join(' ') + '\\n'); ${script}`
      const note = (fields: object, message: string) => void logged.push([message, fields])
      const log = { info: note, warn: note, error: note }
      const stop = startScheduledBackups(
        local,
        { command: process.execPath, args: ['-e', program, '--'], env: {}, every: 5 },
        log,
      )
      onTestFinished(stop)
      return { logged, stop }
    },
    runs: async () => (await readFile(runs, 'utf8')).split('\n').filter(Boolean),
  }
}

const MADE = `console.log(JSON.stringify({ id: '20261121-030000-abcd', added_bytes: 7, removed: [] }))`

/** Some turns of the schedule, in which nothing must happen. */
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 100))

test('a backup is made when it is time, once, by a process of its own', async () => {
  const { clock, start, runs, local } = await world()
  const { logged } = start(MADE)
  await aWhile()
  expect(await runs()).toEqual([])
  clock.pass(31 * MINUTE)
  await expect.poll(() => logged).toHaveLength(1)
  expect(logged[0]).toMatchObject(['backup made', { id: '20261121-030000-abcd', added_bytes: 7, code: 0 }])
  await aWhile()
  expect(await runs()).toEqual([`backup create --prune --json --data-dir ${local.directory.path}`])
  clock.pass(DAY)
  await expect.poll(() => logged).toHaveLength(2)
})

test('one that came while no server ran is made up for, once', async () => {
  const { clock, start, runs } = await world()
  clock.pass(5 * DAY)
  const { logged } = start(MADE)
  await expect.poll(() => logged).toHaveLength(1)
  await aWhile()
  expect(await runs()).toHaveLength(1)
})

test('of two servers on one database one makes it', async () => {
  const { clock, start, runs, local } = await world()
  const other = await openLocal({ dataDir: local.directory.path, env: {}, clock })
  onTestFinished(() => other.close())
  clock.pass(HOUR)
  const claims = await Promise.all([local.domain.backups.schedule.claim(), other.domain.backups.schedule.claim()])
  expect(claims.filter(Boolean)).toHaveLength(1)
  const { logged } = start(MADE)
  await aWhile()
  expect([await runs(), logged]).toEqual([[], []])
})

test('a restored installation makes none until its schedule is resumed', async () => {
  const { clock, local, folder } = await world()
  const { backups } = local.domain
  const { backupTarget, backupSource } = await import('../../../src/wiring/backups/backup-locations.ts')
  const none = { chosen: () => Promise.reject(new Error()), known: () => Promise.reject(new Error()) }
  const to = join(folder, 'repo')
  const target = await backupTarget(local, { to, encrypt: false, startsOver: false }, none)
  const { manifest } = await backups.create(target)
  const source = await backupSource(undefined, { from: to, dataDir: undefined, env: {} }, none)
  const { restore } = await import('../../../src/wiring/backups/restore.ts')
  await restore(source, manifest.id, { target: join(folder, 'copy'), keepDevices: false })
  await source.close()
  const copy = await openLocal({ dataDir: join(folder, 'copy'), env: {}, clock })
  onTestFinished(() => copy.close())
  clock.pass(2 * DAY)
  expect(await copy.domain.backups.schedule.claim()).toBeUndefined()
  await copy.domain.backups.scheduled('0 3 * * *', to)
  clock.pass(DAY)
  expect(await copy.domain.backups.schedule.claim()).toBeDefined()
})

test('a schedule that is changed counts from then on', async () => {
  const { clock, local, start, runs } = await world()
  await local.domain.instance.settings.store('backup.schedule', '0 2 * * *')
  await local.domain.backups.scheduled('0 2 * * *', '/x')
  start(MADE)
  clock.pass(2 * HOUR)
  await aWhile()
  expect(await runs()).toEqual([])
  await local.domain.instance.settings.store('backup.schedule', '')
  clock.pass(DAY)
  await aWhile()
  expect(await runs()).toEqual([])
  expect(await local.domain.backups.schedule.next()).toBeUndefined()
})

test.each([
  [
    'says why',
    `console.error(JSON.stringify({ error: 'The disk is full.' })); process.exitCode = 1`,
    'The disk is full.',
  ],
  ['says nothing', 'process.exitCode = 7', 'it ended with 7'],
  ['is killed', `process.kill(process.pid, 'SIGKILL')`, 'it ended with SIGKILL'],
])('one that fails and %s is logged, noted and tried again the next time', async (_, script, message) => {
  const { clock, local, start, runs, folder } = await world()
  const { logged } = start(script)
  clock.pass(HOUR)
  await expect.poll(() => logged).toHaveLength(1)
  expect(logged[0]).toMatchObject(['backup failed', { reason: message }])
  await expect.poll(() => local.domain.backups.lastFailure()).toMatchObject({ message, place: join(folder, 'repo') })
  const [entry] = await local.domain.instance.audit.list({ limit: 1 })
  expect(entry).toMatchObject({ kind: 'backup.failed' })
  await aWhile()
  expect(await runs()).toHaveLength(1)
  clock.pass(DAY)
  await expect.poll(() => logged).toHaveLength(2)
})

test('one that is in progress when the server stops is made when it runs again', async () => {
  const { clock, start, runs, local } = await world()
  const { logged, stop } = start('setInterval(() => {}, 1000)')
  clock.pass(HOUR)
  await expect.poll(() => runs()).toHaveLength(1)
  await stop()
  expect(logged).toMatchObject([['backup stopped with the server; it is made when the server runs again', {}]])
  expect(await local.domain.backups.lastFailure()).toBeUndefined()
  const again = start(MADE)
  await expect.poll(() => again.logged).toMatchObject([['backup made', {}]])
})

test('a clock that ran ahead for a while does not stop the schedule', async () => {
  const { clock, local, start, runs } = await world()
  clock.pass(3650 * DAY)
  const first = start(MADE)
  await expect.poll(() => first.logged).toHaveLength(1)
  await first.stop()
  await local.domain.backups.failed('The disk is full.', '/x')
  clock.pass(-3650 * DAY)
  const { logged } = start(MADE)
  await expect.poll(() => logged).toMatchObject([['backup made', {}]])
  await aWhile()
  expect(await runs()).toHaveLength(2)
  clock.pass(DAY)
  await expect.poll(() => logged).toHaveLength(2)
})
