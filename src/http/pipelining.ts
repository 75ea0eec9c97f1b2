import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'

/** Pipelined requests that may wait per connection; with more the connection is closed. */
const MAX_QUEUED = 64

/** Requests of a connection: whether one is in progress, and those that wait for it. */
interface Pipeline {
  isBusy: boolean
  queue: (() => void)[]
}

/**
 * Handles pipelined requests of a connection one by one, with a turn of the event loop between them. Node parses a
 * whole socket read at once, and hundreds of requests handled together would block all others.
 */
export function serializePipelines(server: Server): void {
  const pipelines = new WeakMap<Socket, Pipeline>()

  function pipelineOf(socket: Socket): Pipeline {
    let pipeline = pipelines.get(socket)
    if (!pipeline) pipelines.set(socket, (pipeline = { isBusy: false, queue: [] }))
    return pipeline
  }

  function advance(socket: Socket, pipeline: Pipeline): void {
    const next = pipeline.queue.shift()
    if (!next) pipeline.isBusy = false
    else if (!socket.destroyed) next()
  }

  const serialize =
    (handle: RequestListener): RequestListener =>
    (request, response) => {
      const { socket } = request
      const pipeline = pipelineOf(socket)
      const begin = () => {
        pipeline.isBusy = true
        response.on('close', () => {
          if (pipeline.queue.length > 0) setImmediate(advance, socket, pipeline)
          else pipeline.isBusy = false
        })
        handle(request, response)
      }
      if (!pipeline.isBusy) begin()
      else if (pipeline.queue.length < MAX_QUEUED) pipeline.queue.push(begin)
      else socket.destroy()
    }

  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    const listeners = server.listeners(event) as RequestListener[]
    server.removeAllListeners(event)
    for (const listener of listeners) server.on(event, serialize(listener))
  }
}
