import { expect, test } from 'vitest'
import { serverSentEvents, type ServerEvent } from '../../../src/client/ask/event-stream.ts'

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size))
}

async function eventsOf(text: string, size = 1_000): Promise<ServerEvent[]> {
  const events: ServerEvent[] = []
  for await (const event of serverSentEvents(pieces(text, size))) events.push(event)
  return events
}

const STREAM =
  ': beat\n\nevent: delta\ndata: {"text":"Größe 日本"}\n\nid: 7\r\nevent:tool\r\ndata:one\r\ndata: two\r\n\r\ndata: alone\n\n'

test.each([1, 2, 3, 7, 1_000])('events are the same in pieces of %i bytes', async (size) => {
  expect(await eventsOf(STREAM, size)).toEqual([
    { event: 'delta', data: '{"text":"Größe 日本"}' },
    { event: 'tool', data: 'one\ntwo' },
    { event: 'message', data: 'alone' },
  ])
})

test('what is not ended by a blank line is no event', async () => {
  expect(await eventsOf('event: done\ndata: {"half":')).toEqual([])
  expect(await eventsOf('')).toEqual([])
  expect(await eventsOf('event: empty\n\n')).toEqual([])
})

test('an event without an end is given up', async () => {
  const endless = (async function* () {
    for (;;) yield await Promise.resolve(Buffer.alloc(1_048_576, 'a'))
  })()
  await expect(serverSentEvents(endless).next()).rejects.toThrow('without an end')
})

test('many lines of one event without an end are given up', async () => {
  const endless = (async function* () {
    for (;;) yield await Promise.resolve(Buffer.from(`data: ${'x'.repeat(10_000)}\n`.repeat(100)))
  })()
  await expect(serverSentEvents(endless).next()).rejects.toThrow('without an end')
})

// To search all that came before for the end of its line, for each byte, would take hours.
test('a long event in pieces of one byte is read', async () => {
  const long = 'a'.repeat(600_000)
  expect(await eventsOf(`data: ${long}\n\n`, 1)).toEqual([{ event: 'message', data: long }])
})
