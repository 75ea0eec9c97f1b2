import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { DAY } from '../../src/base/clock.ts'
import { lastJob, putJob } from '../../src/storage/instance/backup-job-records.ts'
import type { Program } from '../../src/wiring/backups/scheduled-backups.ts'
import { newUser, signedIn } from '../support/browser.ts'
import { folderOfTest, serverOfTest, type TestServer } from '../support/server.ts'

type Job = { state: string; messages: string[]; [field: string]: unknown }

/** A program that stands in for svc: it does what `script` says. */
const standIn = (script: string): Program => ({
  command: process.execPath,
  args: ['-e', script, '--'],
  env: {},
  every: DAY,
})

/** An administrator of a server whose commands on backups are played by a script. */
async function world(script: string) {
  const server = await serverOfTest({ program: standIn(script) })
  const place = join(await folderOfTest(), 'backups')
  await server.set('backup.to', place)
  return { server, place, ...(await administrator(server)) }
}

async function administrator(server: TestServer) {
  const { username } = await newUser(server, 'admin')
  const browser = await signedIn(server, username)
  const post = (action: string, params: object) => browser.post(`/api/admin.php?action=${action}`, params)
  const job = async () => (await browser.get('/api/admin.php?action=backup_job')).json['job'] as Job | null
  return {
    username,
    start: (params: object) => post('start_backup_job', params),
    stop: async () => (await post('stop_backup_job', {})).json,
    job,
    /** The job once it has ended. */
    async ended(): Promise<Job> {
      await expect.poll(async () => (await job())?.state, { timeout: 15_000 }).not.toMatch(/running|stopping/)
      return (await job())!
    },
  }
}

const ECHO = `
  process.send({ done: 3, total: 12 })
  let given = ''
  process.stdin.on('data', (text) => (given += text)).on('end', () => {
    console.log(JSON.stringify({ id: '20261121-030000-abcd', problems: [] }))
    console.error('warning: ' + JSON.stringify([process.argv.slice(1), given, process.env.SVC_DATA_DIR]))
    process.exitCode = 3
  })`

const HANGS = `process.send({ done: 5, total: 50 }); process.on('SIGTERM', () => process.exit(130)); setInterval(() => {}, 1000)`

describe('a job on the backups', () => {
  test('runs the command in a process of its own, and gives a passphrase to nobody else', async () => {
    const { server, place, username, start, ended } = await world(ECHO)
    const { status, json } = await start({
      job: 'drill',
      backup: '20261121-030000-abcd',
      passphrase: 'analytical engine',
    })
    expect([status, json['job']]).toMatchObject([200, { job: 'drill', state: 'running', by: username, ended_at: null }])
    const job = await ended()
    expect(job).toMatchObject({ state: 'warning', backup: '20261121-030000-abcd' })
    const words = ['backup', 'drill', '20261121-030000-abcd', '--from', place, '--temp', join(server.dataDir, 'tmp')]
    expect(JSON.parse(job.messages[0]!)).toEqual([
      [...words, '--passphrase-stdin', '--json'],
      'analytical engine\n',
      server.dataDir,
    ])
    const logged = await server.local.domain.instance.audit.list({ limit: 100 })
    expect(logged.find(({ kind }) => kind === 'backup.requested')).toMatchObject({ actor: username })
    expect(JSON.stringify(logged)).not.toContain('analytical engine')
    expect(await start({ job: 'create' })).toMatchObject({ status: 200 })
    expect(JSON.parse((await ended()).messages[0]!)).toMatchObject([
      ['backup', 'create', '--data-dir', server.dataDir, '--json'],
      '',
      server.dataDir,
    ])
  })

  test('is the only one, shows how far it is, and is stopped', async () => {
    const { server, username, start, stop, job, ended } = await world(HANGS)
    const both = await Promise.all([start({ job: 'create' }), start({ job: 'verify' })])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(both.find(({ status }) => status === 409)!.json['error']).toContain(`${username} already started`)
    await expect.poll(job, { timeout: 15_000 }).toMatchObject({ state: 'running', done_bytes: 5, total_bytes: 50 })
    expect(await stop()).toMatchObject({ stopping: true })
    const [entry] = await server.local.domain.instance.audit.list({ kinds: ['backup.stopped'], limit: 1 })
    expect(entry).toMatchObject({ actor: username })
    expect(await ended()).toMatchObject({ state: 'stopped', messages: [] })
    expect(await stop()).toMatchObject({ stopping: false })
  })

  test('says why it failed', async () => {
    const { start, ended } = await world(
      `console.error(JSON.stringify({ error: 'The disk of /mnt/backup is full.' })); process.exitCode = 1`,
    )
    await start({ job: 'create' })
    expect(await ended()).toMatchObject({ state: 'failed', messages: ['The disk of /mnt/backup is full.'] })
  })

  test('that created no backup is the last failure, also where the command could not open the folder', async () => {
    const { server, place, start, ended } = await world(
      `console.error('warning: Look here.\\n' + JSON.stringify({ error: 'The backups are gone.' })); process.exitCode = 8`,
    )
    const { backups } = server.local.domain
    await server.set('backup.to', `${place}/`)
    await server.set('backup.schedule', '0 3 * * *')
    await start({ job: 'verify' })
    await ended()
    expect(await backups.lastFailure()).toBeUndefined()
    await start({ job: 'create' })
    await ended()
    expect(await backups.lastFailure()).toMatchObject({ message: 'The backups are gone.', place })
    expect(await server.local.domain.instance.audit.list({ kinds: ['backup.failed'], limit: 5 })).toHaveLength(1)
  })

  test('that was stopped is no failure', async () => {
    const { server, start, stop, job, ended } = await world(HANGS)
    await start({ job: 'create' })
    await expect.poll(job, { timeout: 15_000 }).toMatchObject({ done_bytes: 5 })
    await stop()
    expect(await ended()).toMatchObject({ state: 'stopped' })
    expect(await server.local.domain.backups.lastFailure()).toBeUndefined()
  })

  test('names problems of a long result, and says so if it is too long', async () => {
    const print = (count: number): string =>
      `console.log(JSON.stringify({ problems: Array(${count}).fill({ what: 'damaged '.repeat(12) }) })); process.exitCode = 1`
    const long = await world(print(1_000))
    await long.start({ job: 'verify' })
    const job = await long.ended()
    expect(job).toMatchObject({ state: 'failed' })
    expect(new Set(job.messages)).toEqual(new Set(['damaged '.repeat(12).trim()]))
    const longer = await world(print(100_000))
    await longer.start({ job: 'verify' })
    expect(await longer.ended()).toMatchObject({
      state: 'failed',
      messages: [expect.stringContaining('svc backup verify')],
    })
  })

  test('fails if its command cannot be started', async () => {
    const server = await serverOfTest({ program: { command: 'svc\0', args: [], env: {}, every: DAY } })
    await server.set('backup.to', join(server.dataDir, 'backups'))
    const { start, ended } = await administrator(server)
    expect(await start({ job: 'create' })).toMatchObject({ status: 200 })
    expect(await ended()).toMatchObject({ state: 'failed', messages: [expect.stringContaining('null bytes')] })
  })

  test('is refused by a server whose environment turns off the schedule', async () => {
    const server = await serverOfTest({ env: { SVC_BACKUP_SCHEDULE: 'off' } })
    await server.set('backup.to', join(server.dataDir, 'backups'))
    const { start, job } = await administrator(server)
    expect((await start({ job: 'create' })).json).toMatchObject({
      code: 'conflict',
      error: expect.stringContaining('SVC_BACKUP_SCHEDULE turns off its schedule') as string,
    })
    expect(await job()).toBeNull()
  })

  test('that was killed is failed, and one whose server was killed is interrupted', async () => {
    const { server, start, job, ended } = await world(`process.kill(process.pid, 'SIGKILL')`)
    await start({ job: 'verify' })
    expect(await ended()).toMatchObject({ state: 'failed', messages: ['The command ended with SIGKILL.'] })
    await server.database.write('instance', async (tx) => {
      const { result, ...last } = (await lastJob(tx))!
      expect(result).toBeDefined()
      await putJob(tx, { ...last, server: { ...last.server, pid: 2 ** 22, began: 'earlier' } })
    })
    expect(await job()).toMatchObject({ state: 'interrupted' })
    expect(await start({ job: 'verify' })).toMatchObject({ status: 200 })
    await ended()
  })

  test('stops with its server', async () => {
    const dataDir = await folderOfTest()
    const first = await serverOfTest({ dataDir, program: standIn(HANGS) })
    await first.set('backup.to', join(dataDir, 'backups'))
    const { start } = await administrator(first)
    await start({ job: 'create' })
    await first.close()
    const second = await serverOfTest({ dataDir })
    const { job } = await administrator(second)
    expect(await job()).toMatchObject({ state: 'stopped' })
  })

  test.skipIf(inject('postgres') !== undefined)('creates, checks and tests a backup', async () => {
    const dataDir = await folderOfTest()
    const env = { PATH: process.env['PATH'], HOME: dataDir, TZ: 'UTC' }
    const program = {
      command: process.execPath,
      args: [join(import.meta.dirname, '../../bin/svc.js')],
      env,
      every: DAY,
    }
    const server = await serverOfTest({ dataDir, program })
    const place = join(await folderOfTest(), 'backups')
    await server.set('backup.to', place)
    const { start, ended } = await administrator(server)
    await start({ job: 'drill' })
    expect(await ended()).toMatchObject({ state: 'failed', messages: [expect.stringContaining(place)] })
    await start({ job: 'create' })
    const { backup, ...created } = await ended()
    expect(created).toMatchObject({ state: 'succeeded', messages: [] })
    await start({ job: 'verify', backup: backup as string })
    expect(await ended()).toMatchObject({ state: 'succeeded', messages: [] })
    await start({ job: 'drill' })
    expect(await ended()).toMatchObject({ state: 'succeeded', backup, messages: [] })
    expect(await server.local.domain.backups.lastProvenRestore()).toMatchObject({ id: backup, place })
    await writeFile(join(place, 'svc-backup.json'), 'damaged')
    await start({ job: 'create' })
    expect(await ended()).toMatchObject({ state: 'failed', messages: [expect.any(String)] })
  })

  test('is refused to others, without a place, and with names that are none', async () => {
    const { server, start } = await world('')
    const { username } = await newUser(server)
    const other = await signedIn(server, username)
    expect((await other.post('/api/admin.php?action=start_backup_job', { job: 'create' })).status).toBe(403)
    for (const wrong of [
      { job: 'restore' },
      { job: 'prune' },
      {},
      { job: 'drill', backup: '--temp' },
      { job: 'create', passphrase: 'x' },
    ])
      expect((await start(wrong)).json).toMatchObject({ code: 'bad_request' })
    await server.set('backup.to', undefined)
    expect((await start({ job: 'create' })).json).toMatchObject({
      code: 'conflict',
      error: expect.stringContaining('svc config set backup.to') as string,
    })
  })
})
