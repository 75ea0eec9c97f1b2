import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'

/** Requests whose senders hold the body back until they are asked for it (RFC 9110, 10.1.1). */
const held = new WeakMap<IncomingMessage, ServerResponse>()

/** Lets requests that expect `100-continue` be judged by their headers first: whoever reads the body asks for it. */
export function holdBodies(server: Server, handle: RequestListener): void {
  server.on('checkContinue', (request, response) => {
    held.set(request, response)
    handle(request, response)
  })
  // A server may ignore expectations it does not know; Node would answer them with an empty 417.
  server.on('checkExpectation', handle)
}

/** Asks for the body, if its sender waits for that. */
export function sendContinue(request: IncomingMessage): void {
  held.get(request)?.writeContinue()
  held.delete(request)
}
