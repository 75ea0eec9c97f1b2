import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fault } from '../../src/contract/errors.ts'
import { EventStream, type Send } from '../../src/http/event-stream.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const BEAT = ': \n\n'

/** A stream whose producer does what a test says, after one event. */
async function streaming(signal = new AbortController().signal) {
  let finish = (_: object): void => undefined
  let fail = (_: Error): void => undefined
  let tell: Send | undefined
  const reported: unknown[] = []
  const stream = await EventStream.begin(
    signal,
    async (send) => {
      tell = send
      await send('delta', { text: 'Well' })
      return new Promise<object>((resolve, reject) => ([finish, fail] = [resolve, reject]))
    },
    (error) => void reported.push(error),
  )
  const read = () => String(stream.body.read() ?? '')
  return {
    stream,
    read,
    reported,
    tell: tell!,
    finish: (end: object) => finish(end),
    fail: (error: Error) => fail(error),
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a stream in which nothing happens gives a sign of life every 15 seconds, until it ends', async () => {
  const { read, tell, finish } = await streaming()
  expect(read()).toBe('event: delta\ndata: {"text":"Well"}\n\n')
  vi.advanceTimersByTime(14_999)
  expect(read()).toBe('')
  vi.advanceTimersByTime(1)
  expect(read()).toBe(BEAT)
  vi.advanceTimersByTime(45_000)
  expect(read()).toBe(BEAT.repeat(3))
  await tell('delta', { text: '!' })
  expect(read()).toBe('event: delta\ndata: {"text":"!"}\n\n')

  finish({ response: 'Well!' })
  await settled()
  expect(read()).toBe('event: done\ndata: {"ok":true,"response":"Well!"}\n\n')
  await settled()
  expect(vi.getTimerCount()).toBe(0)
})

test('signs of life do not pile up before somebody who reads nothing', async () => {
  const { stream, tell } = await streaming()
  void tell('delta', { text: 'x'.repeat(200_000) })
  const before = stream.body.readableLength + stream.body.writableLength
  vi.advanceTimersByTime(3_600_000)
  expect(stream.body.readableLength + stream.body.writableLength).toBe(before)
  stream.body.destroy()
  await settled()
  expect(vi.getTimerCount()).toBe(0)
})

test('they end with a stream that fails, and with one that nobody hears any more', async () => {
  const failing = await streaming()
  failing.read()
  failing.fail(fault('busy'))
  await settled()
  expect(failing.read()).toMatch(/^event: error\ndata: \{"ok":false,.*"code":"busy"/)
  await settled()
  expect(vi.getTimerCount()).toBe(0)
  expect(failing.reported).toEqual([])

  const leaving = new AbortController()
  const left = await streaming(leaving.signal)
  leaving.abort()
  left.fail(new Error('gone'))
  await settled()
  expect(left.stream.body.destroyed).toBe(true)
  await settled()
  expect(vi.getTimerCount()).toBe(0)
  expect(left.reported).toEqual([])
})

test('a refusal before the first event is no stream, and leaves no timer', async () => {
  const refused = EventStream.begin(
    new AbortController().signal,
    () => Promise.reject(fault('not_found')),
    () => undefined,
  )
  await expect(refused).rejects.toMatchObject({ code: 'not_found' })
  expect(vi.getTimerCount()).toBe(0)
})

test('who has nothing to say for long gives signs of life too, and a refusal is then an event', async () => {
  let fail = (_: Error): void => undefined
  let isBegun = false
  const begun = EventStream.begin(
    new AbortController().signal,
    () => new Promise((_, reject) => (fail = reject)),
    () => undefined,
  ).then((stream) => {
    isBegun = true
    return stream
  })
  vi.advanceTimersByTime(14_999)
  await settled()
  expect(isBegun).toBe(false)
  vi.advanceTimersByTime(1)
  const { body } = await begun
  expect(String(body.read())).toBe(BEAT)
  vi.advanceTimersByTime(15_000)
  expect(String(body.read())).toBe(BEAT)
  fail(fault('assistant_unavailable', { text: 'The model is gone.' }))
  await settled()
  expect(String(body.read())).toMatch(/^event: error\ndata: \{"ok":false,.*"The model is gone\."/)
  await settled()
  expect(vi.getTimerCount()).toBe(0)
})

test('an event is not written once its reader may not have it any more, and the reader is told why', async () => {
  const { stream, read, tell, fail } = await streaming()
  read()
  let isAllowed = true
  stream.checkBeforeSend(() => (isAllowed ? Promise.resolve() : Promise.reject(fault('unauthorized'))))
  await tell('delta', { text: 'still' })
  expect(read()).toBe('event: delta\ndata: {"text":"still"}\n\n')
  isAllowed = false
  const refusal = await tell('delta', { text: 'a secret' }).catch((error: Error) => error)
  expect(refusal).toMatchObject({ code: 'unauthorized' })
  fail(refusal as Error)
  await settled()
  expect(read()).toMatch(/^event: error\ndata: .*"unauthorized".*\n\n$/)
})
