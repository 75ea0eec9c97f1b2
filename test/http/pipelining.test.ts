import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { serializePipelines } from '../../src/http/pipelining.ts'

/** A server that answers with the path of a request at once, and notes the turn of the event loop in which it did. */
async function noting() {
  const turns: { path: string; turn: number }[] = []
  let turn = 0
  let isOver = false
  const count = () => {
    turn += 1
    if (!isOver) setImmediate(count)
  }
  count()
  const server = createServer(({ url }, response) => {
    turns.push({ path: url!, turn })
    response.end(`${url};`)
  })
  serializePipelines(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(async () => {
    isOver = true
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { turns, port }
}

/** Sends requests at once and returns what comes until the connection ends. */
async function send(port: number, paths: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  const last = paths.length - 1
  socket.write(
    paths
      .map((path, at) => `GET ${path} HTTP/1.1\r\nhost: a\r\n${at === last ? 'connection: close\r\n' : ''}\r\n`)
      .join(''),
  )
  return text(socket).catch(() => '')
}

const pathsOf = (connection: string, count: number) => Array.from({ length: count }, (_, at) => `/${connection}/${at}`)

test('pipelined requests of all connections are handled one a turn, those of each in order', async () => {
  const { turns, port } = await noting()
  const connections = ['a', 'b', 'c', 'd'].map((name) => pathsOf(name, 20))
  const answers = await Promise.all(connections.map((paths) => send(port, paths)))
  for (const [at, paths] of connections.entries()) {
    expect(answers[at]!.match(/\/\w\/\d+(?=;)/g)).toEqual(paths)
  }
  const later = turns.filter(({ path }) => !path.endsWith('/0')).map(({ turn }) => turn)
  expect(new Set(later).size).toBe(later.length)
})

test('a connection with hundreds of waiting requests is closed, and none of them is handled', async () => {
  const { turns, port } = await noting()
  expect(await send(port, pathsOf('flood', 400))).not.toContain('/flood/1;')
  expect(turns.length).toBeLessThan(3)
  expect(await send(port, ['/other'])).toContain('/other;')
})
