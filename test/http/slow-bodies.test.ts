import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { CoalescedMessage } from '../../src/http/coalesced-message.ts'
import { abortSlowBodies } from '../../src/http/slow-bodies.ts'
import { openRaw, rawHead, readRaw } from '../support/raw.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

const HOUR_MS = 3_600_000
const SENT = 200_000

/** A request whose first bytes have arrived at a server; its body is as long as they are and one byte more. */
async function halfSent() {
  const server = createServer({ IncomingMessage: CoalescedMessage })
  const stop = abortSlowBodies(server, 30_000)
  server.on('clientError', (error, socket) => socket.end(`HTTP/1.1 408 ${error.name}\r\n\r\n`))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    stop()
    server.closeAllConnections()
    server.close()
  })
  const raw = await openRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const requested = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>
  raw.write(rawHead('POST', '/', { 'content-length': SENT + 1, connection: 'close' }))
  raw.write(Buffer.alloc(SENT))
  const [request, response] = await requested
  return { raw, request, response }
}

test('a sender whose body the server leaves unread for an hour is not cut off', async () => {
  const { raw, request, response } = await halfSent()
  await vi.waitFor(() => expect(request.readableLength).toBeGreaterThan(0), { timeout: 60_000 })
  vi.advanceTimersByTime(HOUR_MS)
  request.resume()
  raw.write('x')
  await once(request, 'end')
  response.end()
  expect(readRaw(await raw.answer()).status).toBe(200)
})

test('a sender that the server waits for is cut off after two minutes, whatever it sent before', async () => {
  const { raw, request } = await halfSent()
  let received = 0
  request.on('error', () => undefined)
  request.on('data', (chunk: Buffer) => (received += chunk.length))
  // Each check passes a millisecond.
  await vi.waitFor(() => expect(received).toBe(SENT), { timeout: 60_000, interval: 1 })
  vi.advanceTimersByTime(100_000)
  expect(request.destroyed).toBe(false)
  vi.advanceTimersByTime(22_000)
  expect(readRaw(await raw.answer()).status).toBe(408)
})
