import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that may wait for the answer to another one; with more the connection ends. */
const MOST_WAITING = 64

/**
 * Handles the requests of a connection one after the other, with a turn of the event loop between them: Node parses a whole
 * read of the socket at once, and handling the hundreds of requests in it together holds up everybody else.
 */
export function serializePipelines(server: Server): void {
  /** By connection that has a request in work, those that wait for its answer. */
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
      } else if (queue.length < MOST_WAITING) queue.push(begin)
      else socket.destroy()
    }

  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    const listeners = server.listeners(event) as RequestListener[]
    server.removeAllListeners(event)
    for (const listener of listeners) server.on(event, serialize(listener))
  }
}
