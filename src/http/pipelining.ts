import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'

/** Pipelined requests that may wait per connection; with more the connection is closed. */
const MAX_QUEUED = 64

/** Requests of a connection: whether one is in progress, and those that wait for it. */
interface Pipeline {
  isBusy: boolean
  queue: (() => void)[]
}

/** Runs steps in order, one a turn of the event loop. */
function oneEachTurn(): (step: () => void) => void {
  const steps: (() => void)[] = []
  function run(): void {
    if (steps.length > 1) setImmediate(run)
    steps.shift()!()
  }
  return (step) => {
    if (steps.push(step) === 1) setImmediate(run)
  }
}

/**
 * Handles pipelined requests one by one, with a turn of the event loop between those of all connections. Node parses a
 * whole socket read at once, and hundreds of requests handled together would block all others.
 */
export function serializePipelines(server: Server): void {
  const pipelines = new WeakMap<Socket, Pipeline>()
  const inTurn = oneEachTurn()

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

  /** Node ends each of the hundreds of requests that it has parsed with an error: stack traces would take most of the time. */
  function close(socket: Socket): void {
    const { stackTraceLimit } = Error
    socket.prependOnceListener('close', () => (Error.stackTraceLimit = 0))
    socket.once('close', () => (Error.stackTraceLimit = stackTraceLimit))
    socket.destroy()
  }

  const serialize =
    (handle: RequestListener): RequestListener =>
    (request, response) => {
      const { socket } = request
      const pipeline = pipelineOf(socket)
      const begin = () => {
        pipeline.isBusy = true
        response.on('close', () => {
          if (pipeline.queue.length > 0) inTurn(() => advance(socket, pipeline))
          else pipeline.isBusy = false
        })
        handle(request, response)
      }
      if (socket.destroyed) return
      if (!pipeline.isBusy) begin()
      else if (pipeline.queue.length < MAX_QUEUED) pipeline.queue.push(begin)
      else close(socket)
    }

  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    const listeners = server.listeners(event) as RequestListener[]
    server.removeAllListeners(event)
    for (const listener of listeners) server.on(event, serialize(listener))
  }
}
