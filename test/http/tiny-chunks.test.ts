import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { CoalescedMessage } from '../../src/http/coalesced-message.ts'
import type { Account } from '../support/account.ts'
import { bytesOf, sha256Of, tinyChunks } from '../support/contents.ts'
import { openRaw, rawHead, readRaw } from '../support/raw.ts'
import { serverOfFile } from '../support/server.ts'
import { tarOf } from '../support/tar.ts'

const server = await serverOfFile()

/** Sends a body in chunks of one byte, which is six on the wire. */
async function sendTiny({ token }: Account, target: string, type: string, body: Uint8Array | string) {
  const raw = await openRaw(server.url)
  const headers = { authorization: `Bearer ${token}`, 'content-type': type, 'transfer-encoding': 'chunked' }
  raw.write(rawHead('POST', target, { ...headers, connection: 'close' }))
  raw.write(tinyChunks(Buffer.from(body as string)))
  const { status, body: answer } = readRaw(await raw.answer())
  return { status, json: JSON.parse(answer) as Record<string, unknown> }
}

// A program that keeps an object for each chunk, or walks through all of them for each, is not done in this time.
test('an upload of 600,000 chunks of one byte ends, and others are served meanwhile', async () => {
  const ada = await server.account()
  const content = bytesOf(600_000)
  const upload = sendTiny(ada, '/api/sync/files.php?action=upload&path=/tiny', 'application/octet-stream', content)
  const isOver = upload.then(() => true)
  let served = 0
  while (!(await Promise.race([isOver, server.send('/healthz').then(() => false)]))) served += 1
  expect(await upload).toMatchObject({ status: 200, json: { size: 600_000, sha256: sha256Of(content) } })
  expect(served).toBeGreaterThan(5)
})

test('forms, archives and JSON in chunks of one byte are understood', async () => {
  const ada = await server.account()
  const content = bytesOf(30_000)
  const edges = ['--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n', '\r\n--b--\r\n']
  const form = Buffer.concat([Buffer.from(edges[0]!), content, Buffer.from(edges[1]!)])
  const push = { operations: [{ table: 'svc_notes', operation: 'INSERT', data: { title: 'T'.repeat(400) } }] }
  const files = '/api/sync/files.php?action='
  expect(await sendTiny(ada, `${files}upload&path=/form`, 'multipart/form-data; boundary=b', form)).toMatchObject({
    status: 200,
    json: { sha256: sha256Of(content) },
  })
  const archive = tarOf({ name: 'packed', content })
  expect(await sendTiny(ada, `${files}upload_batch`, 'application/x-tar', archive)).toMatchObject({
    status: 200,
    json: { results: [{ path: '/packed', ok: true }] },
  })
  const pushed = await sendTiny(ada, '/api/sync/data.php?action=push', 'application/json', JSON.stringify(push))
  expect(pushed).toMatchObject({ status: 200, json: { results: [{ ok: true }] } })
})

test('a body in tiny chunks comes to its reader in few pieces, and one in large chunks as it is', async () => {
  const pieces: number[] = []
  const receiver = createServer({ IncomingMessage: CoalescedMessage }, (request, response) => {
    request.on('data', (piece: Buffer) => pieces.push(piece.length))
    request.on('end', () => response.end())
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void receiver.close())
  await once(receiver, 'listening')
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const send = async (body: Buffer) => {
    const raw = await openRaw(url)
    raw.write(rawHead('POST', '/', { 'transfer-encoding': 'chunked', connection: 'close' }))
    raw.write(body)
    await raw.answer()
    const sizes = pieces.splice(0)
    return { count: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
  }
  const tiny = await send(tinyChunks(bytesOf(100_000)))
  expect(tiny.bytes).toBe(100_000)
  expect(tiny.count).toBeLessThan(10_000)
  const large = Buffer.from(`2000\r\n${'x'.repeat(8_192)}\r\n`)
  expect(await send(Buffer.concat([large, large, Buffer.from('3\r\nend\r\n0\r\n\r\n')]))).toMatchObject({
    bytes: 16_387,
  })
})

test('of many connections with tiny chunks one is read in a turn of the event loop', async () => {
  const messages: CoalescedMessage[] = []
  const receiver = createServer({ IncomingMessage: CoalescedMessage }, (request, response) => {
    messages.push(request as CoalescedMessage)
    request.on('end', () => response.end()).resume()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void receiver.close())
  await once(receiver, 'listening')
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const raws = await Promise.all(Array.from({ length: 4 }, () => openRaw(url)))
  for (const raw of raws) {
    raw.write(rawHead('POST', '/', { 'transfer-encoding': 'chunked', connection: 'close' }))
    raw.write(tinyChunks(bytesOf(100_000)))
  }
  let isOver = false
  const answers = Promise.all(raws.map((raw) => raw.answer())).finally(() => (isOver = true))
  const received = new Map<CoalescedMessage, number>()
  let crowded = 0
  while (!isOver) {
    const read = messages.filter((message) => message.received > (received.get(message) ?? 0))
    for (const message of read) received.set(message, message.received)
    if (read.length > 1) crowded += 1
    await new Promise(setImmediate)
  }
  await answers
  expect(messages.map((message) => message.received)).toEqual(messages.map(() => 100_000))
  // The first read of each is free.
  expect(crowded).toBeLessThanOrEqual(messages.length)
})
