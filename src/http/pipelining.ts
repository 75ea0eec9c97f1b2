import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'

/** Pipelined requests that may wait per connection; with more the connection is closed. */
const MAX_QUEUED = 64

/**
 * Handles pipelined requests of a connection one by one, with a turn of the event loop between them. Node parses a
 * whole socket read at once, and hundreds of requests handled together would block all others.
 */
export function serializePipelines(server: Server): void {
  /** Waiting requests by connection, for connections with a request in progress. */
  const waiting = new WeakMap<Socket, (() => void)[]>()

  function advance(socket: Socket): void {
    const next = waiting.get(socket)?.shift()
    if (!next) waiting.delete(socket)
    else if (!socket.destroyed) next()
  }

  const serialize =
    (handle: RequestListener): RequestListener =>
    (request, response) => {
      const { socket } = request
      const begin = () => {
        response.once('close', () => {
          if (waiting.get(socket)?.length) setImmediate(advance, socket)
          else waiting.delete(socket)
        })
        handle(request, response)
      }
      const queue = waiting.get(socket)
      if (!queue) {
        waiting.set(socket, [])
        begin()
      } else if (queue.length < MAX_QUEUED) queue.push(begin)
      else socket.destroy()
    }

  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    const listeners = server.listeners(event) as RequestListener[]
    server.removeAllListeners(event)
    for (const listener of listeners) server.on(event, serialize(listener))
  }
}
