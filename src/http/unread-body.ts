import type { IncomingMessage } from 'node:http'

/** How long a sender may go on after the answer, in ms: many read it only when all is sent. */
const LINGER = 30_000

/** Reads and drops what still comes of a body after its answer, for a while; then the connection ends. */
export function dropRest(request: IncomingMessage): void {
  if (request.complete || request.readableEnded || request.destroyed) return
  request.resume()
  const timer = setTimeout(() => request.destroy(), LINGER).unref()
  request.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer))
}
