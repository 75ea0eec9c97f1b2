import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openRaw, rawHead, readRaw } from '../support/raw.ts'
import { serverOfTest } from '../support/server.ts'

/** A connection from an address of this machine. */
async function from(localAddress: string, url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), localAddress })
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** The first answer on a connection. */
async function statusOn(socket: Socket): Promise<number> {
  socket.write(rawHead('GET', '/healthz', {}))
  const [data] = (await once(socket, 'data')) as [Buffer]
  return readRaw(data.toString()).status
}

const json = { 'content-type': 'application/json' }

test('half-sent requests of one address do not shut others out, and it may come again when they are gone', async () => {
  const server = await serverOfTest({ flags: { connections_per_address: '20', trusted_proxies: '127.0.0.3' } })
  const held: Socket[] = []
  for (let count = 0; count < 20; count++) {
    const socket = await from('127.0.0.2', server.url)
    socket.write('POST /api/login.php HTTP/1.1\r\nhost: 127.0.0.1\r\n')
    held.push(socket)
  }
  expect(await statusOn(await from('127.0.0.2', server.url))).toBe(429)
  expect(await statusOn(await from('127.0.0.1', server.url))).toBe(200)
  // A proxy speaks for many.
  for (let count = 0; count < 30; count++) expect(await statusOn(await from('127.0.0.3', server.url))).toBe(200)

  await Promise.all(held.map((socket) => (socket.destroy(), once(socket, 'close'))))
  await expect.poll(async () => statusOn(await from('127.0.0.2', server.url))).toBe(200)
})

test('a request that does not arrive ends: its head, a small body, one byte after the other', async () => {
  const server = await serverOfTest({ flags: { request_timeout: '1' } })
  const ada = await server.account()
  const upload = { authorization: `Bearer ${ada.token}`, 'content-length': 1_000_000 }
  const halves = [
    'POST /api/login.php HTTP/1.1\r\nhost: 127.0.0.1\r\n',
    rawHead('POST', '/api/login.php', { ...json, 'content-length': 100 }),
    `${rawHead('POST', '/api/login.php', { ...json, 'content-length': 100 })}{"username":`,
    rawHead('POST', '/api/sync/files.php?action=upload&path=/a', upload),
  ]
  const raws = await Promise.all(halves.map(() => openRaw(server.url)))
  const drip = setInterval(() => raws.at(-1)!.write('x'), 50)
  onTestFinished(() => clearInterval(drip))
  for (const [at, half] of halves.entries()) raws[at]!.write(half)
  const answers = await Promise.all(raws.map((raw) => raw.answer()))
  expect(answers.map((answer) => readRaw(answer).status)).toEqual([408, 408, 408, 408])
  expect((await ada.manifest()).files).toEqual([])
})

test('requests of one connection are answered one after the other, and very many at once end it', async () => {
  const server = await serverOfTest({})
  const ada = await server.account()
  const manifest = rawHead('GET', '/api/sync/files.php?action=manifest', { authorization: `Bearer ${ada.token}` })
  const last = rawHead('GET', '/nowhere', { connection: 'close' })
  const send = async (count: number) => {
    const raw = await openRaw(server.url)
    raw.write((rawHead('GET', '/healthz', {}) + manifest).repeat(count / 2) + last)
    const answer = await raw.answer()
    return [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
  }
  const pairs = 4
  expect(await send(2 * pairs)).toEqual([...Array<number>(2 * pairs).fill(200), 404])
  expect((await send(1_000)).length).toBeLessThan(100)
})
