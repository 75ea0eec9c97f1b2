import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { CoalescedMessage } from './coalesced-message.ts'

/** Milliseconds of credit per byte: 8 KiB in 10 seconds is the lowest accepted rate. */
const MS_PER_BYTE = 10_000 / 8_192
/** Maximum credit of a sender, in ms. */
const MAX_CREDIT_MS = 120_000

/** Remaining time of a body in ms, and the bytes it had received at the last check. */
interface TimeCredit {
  left: number
  received: number
}

/** The error with which Node ends requests whose headers arrive too slowly. */
const tooSlow = () => Object.assign(new Error('The body arrives too slowly.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

/** Whether a body follows the head (RFC 9112, 6). Most requests have none and need no checks. */
const hasBody = ({ headers }: CoalescedMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/**
 * Aborts requests whose bodies arrive too slowly. A body starts with `initialMs` of credit, gains more with each byte,
 * and spends it only while the server waits for its sender. Returns a function that stops the checks.
 */
export function abortSlowBodies(server: Server, initialMs: number): () => void {
  const open = new Map<CoalescedMessage, TimeCredit>()
  const intervalMs = Math.min(1_000, initialMs / 4)

  function check(): void {
    for (const [message, credit] of open) {
      if (message.destroyed) {
        open.delete(message)
        continue
      }
      const gained = (message.received - credit.received) * MS_PER_BYTE
      credit.received = message.received
      credit.left = Math.min(MAX_CREDIT_MS, credit.left + gained)
      if (message.readableLength === 0) credit.left -= intervalMs
      if (credit.left > 0) continue
      open.delete(message)
      server.emit('clientError', tooSlow(), message.socket satisfies Socket)
    }
  }

  const watch = (message: unknown): void => {
    if (!(message instanceof CoalescedMessage) || !hasBody(message)) return
    open.set(message, { left: initialMs, received: 0 })
    message.onComplete = () => open.delete(message)
  }
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) server.on(event, watch)
  const timer = setInterval(check, intervalMs).unref()
  return () => clearInterval(timer)
}
