import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'

/** Requests with `Expect: 100-continue` whose body was not asked for yet (RFC 9110, 10.1.1). */
const pendingContinue = new WeakMap<IncomingMessage, ServerResponse>()

/** Sends `100 Continue` only when something reads the body, so that headers alone can refuse a request. */
export function deferContinue(server: Server, handle: RequestListener): void {
  server.on('checkContinue', (request, response) => {
    pendingContinue.set(request, response)
    handle(request, response)
  })
  // Servers may ignore unknown expectations; Node would answer with an empty 417.
  server.on('checkExpectation', handle)
}

/** Asks for the body if its sender waits for `100 Continue`. */
export function sendContinue(request: IncomingMessage): void {
  pendingContinue.get(request)?.writeContinue()
  pendingContinue.delete(request)
}
