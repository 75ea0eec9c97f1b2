import type { IncomingMessage } from 'node:http'

/** Time in ms a sender may continue after the response; many read it only after they have sent everything. */
const LINGER_MS = 30_000

/** Discards the rest of a body after its response, then closes the connection. */
export function drainBody(request: IncomingMessage): void {
  if (request.complete || request.readableEnded || request.destroyed) return
  request.resume()
  const timer = setTimeout(() => request.destroy(), LINGER_MS).unref()
  request.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer))
}
