import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isRunning } from '../../src/host/process-status.ts'
import { newUser, PASSWORD, signedIn } from '../support/browser.ts'
import { folderOfTest, serverOfTest, startServer, type TestServer } from '../support/server.ts'

const program = join(import.meta.dirname, '../../bin/svc.js')

async function installation() {
  const dataDir = await folderOfTest()
  const place = join(await folderOfTest(), 'backups')
  const server = await startServer({ dataDir })
  const { username } = await newUser(server, 'admin')
  await server.set('backup.to', place)
  await server.close()
  const env = { PATH: process.env['PATH'], HOME: dataDir, TZ: 'UTC' }
  return { dataDir, place, username, env }
}

describe('a command on backups with an IPC channel', () => {
  test('sends nothing to a parent that is no server, and does not end with it', async () => {
    const { dataDir, place, env } = await installation()
    const words = ['backup', 'create', '--data-dir', dataDir, '--to', place]
    const messages: unknown[] = []
    const child = fork(program, words, { env, execArgv: [], stdio: 'ignore' })
    child.on('message', (message) => messages.push(message))
    expect(await once(child, 'close')).toEqual([0, null])
    expect(messages).toEqual([])
    const alone = fork(program, words, { env, execArgv: [], stdio: 'ignore' })
    alone.disconnect()
    expect(await once(alone, 'exit')).toEqual([0, null])
    expect(await readdir(join(place, 'snapshots'))).toHaveLength(2)
  })

  test('ends without a backup if its server was killed before', async () => {
    const { dataDir, place, username, env } = await installation()
    const folder = await folderOfTest()
    const [pidFile, readyFile, wrapper] = ['pid', 'ready', 'svc.mjs'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    // The command stops itself before it begins.
    await writeFile(
      wrapper,
      `import { writeFileSync } from 'node:fs'
      if (process.argv[2] === 'backup') {
        writeFileSync(${JSON.stringify(pidFile)}, String(process.pid))
        process.kill(process.pid, 'SIGSTOP')
      }
      await import(${JSON.stringify(program)})`,
    )
    const words = ['serve', '--data-dir', dataDir, '--port', '0', '--ready-file', readyFile]
    const server = spawn(process.execPath, [wrapper, ...words], { env, stdio: 'ignore' })
    onTestFinished(() => void server.kill('SIGKILL'))
    await expect.poll(() => existsSync(readyFile), { timeout: 60_000 }).toBe(true)
    const { url } = JSON.parse(await readFile(readyFile, 'utf8')) as { url: string }
    const browser = await signedIn({ url } as TestServer, username, PASSWORD)
    const { status } = await browser.post('/api/admin.php?action=start_backup_job', { job: 'create' })
    expect(status).toBe(200)
    const pidOf = async (): Promise<number> => Number(await readFile(pidFile, 'utf8').catch(() => '0'))
    await expect.poll(pidOf, { timeout: 60_000 }).toBeGreaterThan(0)
    const pid = await pidOf()
    server.kill('SIGKILL')
    await once(server, 'close')
    process.kill(pid, 'SIGCONT')
    await expect.poll(() => isRunning(pid), { timeout: 60_000 }).toBe(false)
    expect(existsSync(join(place, 'snapshots')) ? await readdir(join(place, 'snapshots')) : []).toEqual([])
    const again = await signedIn(await serverOfTest({ dataDir }), username)
    const { json } = await again.get('/api/admin.php?action=backup_job')
    expect(json['job']).toMatchObject({ state: 'interrupted', by: username })
  })
})
