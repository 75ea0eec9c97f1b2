import { randomUUID } from 'node:crypto'
import { spawn } from 'node:child_process'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { serverOfTest } from '../support/server.ts'
import { temporaryFolder } from '../support/folder.ts'

// The command as it is built: a server that goes away, processes that are killed or work at the same time, a damaged file.

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** A way to a server that can be cut. */
async function relayTo(url: string) {
  const { port: to } = new URL(url)
  const sockets = new Set<Socket>()
  let server: Server
  const up = (port: number): Promise<number> =>
    new Promise((resolve, reject) => {
      server = createServer((near) => {
        const far = connect(Number(to), '127.0.0.1')
        for (const [socket, other] of [
          [near, far],
          [far, near],
        ] as const) {
          sockets.add(socket)
          socket.on('error', () => other.destroy()).on('close', () => other.destroy())
          socket.pipe(other)
        }
      })
      server.on('error', reject).listen(port, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
    })
  const port = await up(0)
  const down = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    sockets.clear()
    await closed
  }
  onTestFinished(down)
  return { url: `http://127.0.0.1:${port}`, down, up: () => up(port) }
}

async function world() {
  const server = await serverOfTest()
  const account = await server.account()
  const way = await relayTo(server.url)
  const home = await temporaryFolder()
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const env = { PATH: process.env['PATH'], HOME: home, SVC_URL: way.url, SVC_TOKEN: account.token }

  function start(...args: string[]) {
    const child = spawn(process.execPath, [program, 'data', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    const ended = new Promise<Ended>((resolve, reject) => {
      child.on('error', reject).on('close', (code) => resolve({ code, stdout, stderr }))
    })
    return { child, ended }
  }
  const data = (...args: string[]): Promise<Ended> => start(...args).ended
  /** The titles of all notes as the server has them. */
  async function titles(): Promise<string[]> {
    const { json } = await server.send('/api/sync/data.php?action=initial_sync', { token: account.token })
    return (json as { data: { svc_notes: { title: string }[] } }).data.svc_notes.map(({ title }) => title).sort()
  }
  /** Changes a note as another device would. */
  async function elsewhere(operation: 'UPDATE' | 'DELETE', values: { id: number; title?: string }): Promise<void> {
    const operations = [{ table: 'svc_notes', operation, data: values, op_id: randomUUID() }]
    const { status } = await server.send('/api/sync/data.php?action=push', {
      method: 'POST',
      token: account.token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ operations }),
    })
    expect(status).toBe(200)
  }
  return { server, data, start, titles, elsewhere, way, folder: join(home, '.local/state/svc/rows') }
}

const idsIn = ({ stdout }: Ended): unknown[] => (JSON.parse(stdout) as { id: unknown }[]).map(({ id }) => id)

test('a server that is away is done without, and told everything when it is back', async () => {
  const { data, titles, way } = await world()
  await data('add', 'notes', 'title=first')
  await way.down()

  const list = await data('list', 'notes', '--json')
  expect(list).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Nothing answers at .* Rows as of .* ago\.\n$/),
  })
  expect(idsIn(list)).toEqual([1])
  expect(await data('list', 'notes', '--online')).toMatchObject({ code: 7, stdout: '' })
  expect(await data('add', 'notes', 'title=refused', '--online')).toMatchObject({ code: 7, stdout: '' })
  expect(await data('set', 'notes', '99', 'title=nobody knows')).toMatchObject({ code: 7, stdout: '' })
  expect(await data('set', 'notes', '99', 'title=x', '--offline')).toMatchObject({ code: 5, stdout: '' })
  expect(await data('add', 'notes', 'colour=red')).toMatchObject({ code: 2 })
  expect(await data('add', 'notes', 'title=second', '--json')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"status": "queued"'),
    stderr: expect.stringContaining('The change is queued'),
  })
  expect(await data('set', 'notes', '1', 'content=more')).toMatchObject({ code: 0 })
  expect(await data('tables')).toMatchObject({ code: 0 })
  const offline = await data('list', 'notes', '--json')
  expect(
    idsIn(offline)
      .map(Number)
      .filter((id) => id > 0),
  ).toEqual([1])
  expect(offline.stderr).toContain('with 2 changes not sent to the server yet')

  await way.up()
  const online = await data('list', 'notes', '--json')
  expect(online).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(online.stdout)).toMatchObject([
    { id: 1, title: 'first', content: 'more', version: 2 },
    { id: 2, title: 'second', version: 1 },
  ])
  expect(await titles()).toEqual(['first', 'second'])
})

test('an online change that fails leaves what was changed offline before in the queue', async () => {
  const { data, titles, way } = await world()
  await data('add', 'notes', 'title=first')
  await data('add', 'notes', 'title=second')
  await data('set', 'notes', '1', 'title=kept', '--offline')
  await data('set', 'notes', '2', 'title=kept too', '--offline')
  await way.down()
  expect(await data('set', 'notes', '1', 'category=x', '--online')).toMatchObject({ code: 7 })
  expect(await data('remove', 'notes', '2', '--yes', '--online')).toMatchObject({ code: 7 })
  await data('set', 'notes', '1', 'content=more', '--offline')
  await way.up()
  const { stdout } = await data('list', 'notes', '--json')
  expect(JSON.parse(stdout)).toMatchObject([{ title: 'kept', category: null, content: 'more' }, { title: 'kept too' }])
  expect(await titles()).toEqual(['kept', 'kept too'])
})

test('an online change of a row does not decide about what was changed offline before', async () => {
  const { data, titles, elsewhere } = await world()
  for (const title of ['first', 'second', 'third']) await data('add', 'notes', `title=${title}`)
  for (const id of ['1', '2', '3']) await data('set', 'notes', id, 'title=offline', '--offline')
  await elsewhere('UPDATE', { id: 1, title: 'elsewhere' })
  await elsewhere('DELETE', { id: 2 })

  expect(await data('set', 'notes', '1', 'category=x', '--json')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"status": "applied"'),
    stderr: expect.stringContaining('2 of the queued changes could not be applied'),
  })
  expect(await data('set', 'notes', '2', 'category=x')).toMatchObject({ code: 5 })
  expect(await data('remove', 'notes', '3', '--yes')).toMatchObject({ code: 0 })
  expect(JSON.parse((await data('list', 'notes', '--json')).stdout)).toMatchObject([
    { id: 1, title: 'elsewhere', category: 'x' },
  ])
  expect(await titles()).toEqual(['elsewhere'])
})

test('a server that accepts no changes is read, and told the queued changes later', async () => {
  const { server, data, titles, elsewhere } = await world()
  for (const title of ['first', 'second']) await data('add', 'notes', `title=${title}`)
  await data('set', 'notes', '1', 'title=queued', '--offline')
  await elsewhere('UPDATE', { id: 2, title: 'elsewhere' })
  await server.set('#maintenance', { message: 'Moving disks.', until: null, read_only: true })
  onTestFinished(() => server.set('#maintenance', undefined))
  const list = await data('list', 'notes', '--json')
  expect(list).toMatchObject({
    code: 0,
    stderr: 'The server is read-only: Moving disks. The rows are current, with 1 change not sent to the server yet.\n',
  })
  expect(JSON.parse(list.stdout)).toMatchObject([{ title: 'queued' }, { title: 'elsewhere' }])
  await server.set('#maintenance', undefined)
  expect(await data('list', 'notes')).toMatchObject({ code: 0, stderr: '' })
  expect(await titles()).toEqual(['elsewhere', 'queued'])
})

test('without ever having reached the server nothing is made up', async () => {
  const { data, way, folder } = await world()
  await way.down()
  expect(await data('list', 'notes')).toMatchObject({ code: 7, stdout: '' })
  expect(await data('list', 'notes', '--offline')).toMatchObject({ code: 7, stdout: '' })
  expect(await data('add', 'notes', 'title=x')).toMatchObject({ code: 7, stdout: '' })
  expect(() => readdirSync(folder)).toThrow('ENOENT')
})

test('commands that are killed anywhere leave each row once or not at all', async () => {
  const { data, start, titles } = await world()
  await data('list', 'notes')
  for (let at = 0; at < 12; at += 1) {
    const { child, ended } = start('add', 'notes', `title=row ${at}`)
    await sleep(120 + at * 25)
    child.kill('SIGKILL')
    await ended
  }
  const list = await data('list', 'notes', '--json')
  expect(list.code).toBe(0)
  const there = await titles()
  expect(new Set(there).size).toBe(there.length)
  expect((JSON.parse(list.stdout) as { title: string; id: number }[]).map(({ title }) => title).sort()).toEqual(there)
  for (const id of idsIn(list)) expect(id).toBeGreaterThan(0)
})

test('several at the same time neither lose nor double anything', async () => {
  const { data, titles } = await world()
  await data('list', 'notes')
  const names = ['a', 'b', 'c', 'd']
  const queued = await Promise.all(names.map((name) => data('add', 'notes', `title=${name}`, '--offline', '--json')))
  expect(queued.map(({ stdout }) => (JSON.parse(stdout) as { id: number }).id).sort()).toEqual([-1, -2, -3, -4])
  const sent = await Promise.all([data('list', 'notes'), data('add', 'notes', 'title=e'), data('list', 'notes')])
  expect(sent.map(({ code }) => code)).toEqual([0, 0, 0])
  expect(await titles()).toEqual([...names, 'e'])
  expect(JSON.parse((await data('get', 'notes', '-2', '--json')).stdout)).toMatchObject({ version: 1 })
})

test('a damaged file is put aside and the rows are fetched anew', async () => {
  const { data, folder } = await world()
  await data('add', 'notes', 'title=first')
  const name = readdirSync(folder).find((each) => each.endsWith('.db'))!
  for (const tail of ['-wal', '-shm']) rmSync(join(folder, name + tail), { force: true })
  writeFileSync(join(folder, name), 'x'.repeat(8_192))
  const { code, stdout, stderr } = await data('list', 'notes', '--json')
  expect(code).toBe(0)
  expect(idsIn({ code, stdout, stderr })).toEqual([1])
  expect(stderr).toContain('were damaged and are downloaded again')
  expect(readdirSync(folder)).toContain(`${name}.damaged`)
  expect(await data('list', 'notes')).toMatchObject({ code: 0, stderr: '' })
})
