import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createRawServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Loopback {
  url: string
  port: number
  /** What arrived, in order. */
  requests: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[]
  /** Connections opened so far. */
  connections(): number
  /** Ends every connection as the other side sees it when a server is restarted. */
  dropConnections(): void
}

export const json = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
  response.end(JSON.stringify(body))
}

/** A server on a free port of the loopback, closed with the test; `answer` is called when the whole request is there. */
export async function serve(answer: RequestListener): Promise<Loopback> {
  const requests: Loopback['requests'] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      requests.push({ method, path, headers, body: Buffer.concat(chunks).toString() })
      answer(request, response)
    })
  })
  server.on('connection', (socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    connections: () => connections,
    dropConnections: () => sockets.forEach((socket) => socket.destroy()),
  }
}

/** A server that writes bytes of its own choosing, for answers that node:http would not write. */
export async function serveRaw(talk: (socket: Socket, connection: number) => void): Promise<string> {
  let connection = 0
  const server = createRawServer((socket) => {
    socket.on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    connection += 1
    const which = connection
    socket.once('data', () => talk(socket, which))
  })
  return `http://127.0.0.1:${await listen(server)}`
}

async function listen(server: ReturnType<typeof createServer> | ReturnType<typeof createRawServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

/** An address of the loopback at which nothing listens. */
export async function deadAddress(): Promise<string> {
  const server = createRawServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}
