import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { CoalescedMessage } from './incoming-message.ts'

/** Milliseconds that each byte of a body is worth: 8 KiB in 10 seconds is as slow as one may be. */
const MS_A_BYTE = 10_000 / 8_192
/** Most time that a sender can save up, in ms. */
const MOST_SAVED = 120_000

/** What a body has of time, in ms, and how much of it had arrived when that was last looked at. */
interface Account {
  left: number
  received: number
}

/** The error with which Node ends requests whose head comes too slowly. */
const tooSlow = () => Object.assign(new Error('The body comes too slowly.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

/**
 * Ends requests whose bodies come too slowly. A body has some time to begin with and gains more with each byte; it loses time
 * only while its sender is waited for. Returns what stops watching.
 */
export function endSlowBodies(server: Server, patienceMs: number): () => void {
  const open = new Map<CoalescedMessage, Account>()
  const every = Math.min(1_000, patienceMs / 4)

  function look(): void {
    for (const [message, account] of open) {
      if (message.complete || message.destroyed) {
        open.delete(message)
        continue
      }
      const gained = (message.received - account.received) * MS_A_BYTE
      account.received = message.received
      account.left = Math.min(MOST_SAVED, account.left + gained)
      if (message.isDrained) account.left -= every
      if (account.left > 0) continue
      open.delete(message)
      server.emit('clientError', tooSlow(), message.socket satisfies Socket)
    }
  }

  const watch = (message: unknown): void => {
    if (message instanceof CoalescedMessage && !message.complete) open.set(message, { left: patienceMs, received: 0 })
  }
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) server.on(event, watch)
  const timer = setInterval(look, every).unref()
  return () => clearInterval(timer)
}
