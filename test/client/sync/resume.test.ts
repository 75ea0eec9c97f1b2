import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { CallOptions, Downloaded } from '../../../src/client/api.ts'
import { Unreachable } from '../../../src/client/errors.ts'
import { makeBench, readTree, type Bench } from './bench.ts'
import { everything, FakeServer, type Mischief } from './fake-server.ts'
import { sha256Of } from './trees.ts'

// Large downloads that break off: what arrived is kept, and checked as a whole in the end.

const LARGE = Buffer.alloc(5_000_000, 'the same words again and again ')
const HALF = 2_000_000

async function fetching(features: Record<string, unknown> = everything): Promise<Bench & { ranges: string[] }> {
  const server = new FakeServer()
  server.features = features
  const bench = await makeBench({ server })
  server.put('/film.mkv', LARGE)
  const ranges: string[] = []
  const api = server.api.bind(server)
  server.api = () => {
    const plain = api()
    const receive = (action: { name: string }, params: never, options: CallOptions): Promise<Downloaded> => {
      if (action.name === 'download') ranges.push(options.headers?.['range'] ?? 'all')
      return plain.receive(action as never, params, options)
    }
    return { ...plain, receive: receive as never }
  }
  return { ...bench, ranges }
}

/** Sends the beginning, and breaks off; every time, or as often as is said. */
function breaking(times = Infinity, content: Uint8Array = LARGE.subarray(0, HALF)): Mischief {
  let left = times
  return (action) => {
    if (action !== 'download' || (left -= 1) < 0) return undefined
    return {
      status: 200,
      headers: {},
      body: (async function* () {
        yield content
        await Promise.resolve()
        throw new Unreachable('The connection broke off.')
      })(),
    }
  }
}

const partsIn = (root: string): string[] => readdirSync(join(root, '.svc', 'tmp'))

/** A run that is cut off while a download is half done. */
async function cutOff({ server, sync }: Bench): Promise<void> {
  server.mischief = breaking()
  await expect(sync()).rejects.toThrow('broke off')
  server.mischief = undefined
}

test('a download that breaks off goes on where it was, in the same run', async () => {
  const { root, server, sync, ranges } = await fetching()
  server.mischief = breaking(1)
  expect(await sync()).toMatchObject({ in_sync: true, downloaded: { files: 1, bytes: LARGE.length } })
  expect(ranges).toEqual(['all', `bytes=${HALF}-`])
  expect(readFileSync(join(root, 'film.mkv')).equals(LARGE)).toBe(true)
  expect(partsIn(root)).toEqual([])
})

test('the next run goes on where one was cut off', async () => {
  const bench = await fetching()
  const { root, sync, ranges } = bench
  await cutOff(bench)
  expect(partsIn(root)).toHaveLength(1)
  expect(readTree(root)).toEqual({})
  ranges.length = 0
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(ranges).toEqual([expect.stringMatching(/^bytes=[1-9]\d*-$/)])
  expect(readFileSync(join(root, 'film.mkv')).equals(LARGE)).toBe(true)
  expect(partsIn(root)).toEqual([])
  expect(await sync()).toMatchObject({ in_sync: true, hashed: 0 })
})

test('when the server has another content meanwhile, the part is thrown away', async () => {
  const bench = await fetching()
  const { root, server, sync, ranges } = bench
  await cutOff(bench)
  const other = Buffer.alloc(6_000_000, 'other words')
  server.put('/film.mkv', other)
  ranges.length = 0
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(ranges).toEqual(['all'])
  expect(readFileSync(join(root, 'film.mkv')).equals(other)).toBe(true)
  expect(partsIn(root)).toEqual([])
})

test('when it changes between the listing and the rest, nothing is pieced together', async () => {
  const bench = await fetching()
  const { root, server, sync } = bench
  await cutOff(bench)
  const other = Buffer.alloc(5_000_000, 'other words')
  let once = true
  server.mischief = (action) => {
    if (action === 'download' && once) server.put('/film.mkv', other)
    if (action === 'download') once = false
    return undefined
  }
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(readFileSync(join(root, 'film.mkv')).equals(other)).toBe(true)
  expect(partsIn(root)).toEqual([])
})

for (const [what, spoil] of [
  ['holes in it, after a power cut', (file: string) => writeFileSync(file, Buffer.alloc(HALF))],
  ['more than the whole', (file: string) => writeFileSync(file, Buffer.alloc(9_000_000))],
  ['nothing in it', (file: string) => truncateSync(file, 0)],
  ['as much as the whole, but something else', (file: string) => writeFileSync(file, Buffer.alloc(LARGE.length, 'x'))],
] as const) {
  test(`a part with ${what} does no harm: the file comes from the start`, async () => {
    const bench = await fetching()
    const { root, sync } = bench
    await cutOff(bench)
    spoil(join(root, '.svc', 'tmp', partsIn(root)[0]!))
    expect(await sync()).toMatchObject({ in_sync: true, skipped: [] })
    expect(readFileSync(join(root, 'film.mkv')).equals(LARGE)).toBe(true)
    expect(partsIn(root)).toEqual([])
  })
}

test('a part that holds all of it already needs no request', async () => {
  const bench = await fetching()
  const { root, sync, ranges } = bench
  await cutOff(bench)
  writeFileSync(join(root, '.svc', 'tmp', partsIn(root)[0]!), LARGE)
  ranges.length = 0
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(ranges).toEqual([])
  expect(readFileSync(join(root, 'film.mkv')).equals(LARGE)).toBe(true)
})

for (const [what, answer] of [
  ['another range than it was asked for', { 'content-range': `bytes 0-${LARGE.length - 1}/${LARGE.length}` }],
  ['a range of something longer', { 'content-range': `bytes ${HALF}-${LARGE.length - 1}/9000000` }],
  ['a range it does not name', {}],
] as const) {
  test(`a server that answers ${what} is not believed`, async () => {
    const bench = await fetching()
    const { root, server, sync } = bench
    await cutOff(bench)
    let once = true
    server.mischief = (action) => {
      if (action !== 'download' || !once) return undefined
      once = false
      return { status: 206, headers: answer, body: [LARGE.subarray(HALF)] }
    }
    expect(await sync()).toMatchObject({ in_sync: true, skipped: [] })
    expect(readFileSync(join(root, 'film.mkv')).equals(LARGE)).toBe(true)
  })
}

test('without ranges a download begins anew, and keeps nothing', async () => {
  const bench = await fetching({ ...everything, download_range: undefined })
  const { root, sync, ranges } = bench
  await cutOff(bench)
  expect(partsIn(root)).toEqual([])
  ranges.length = 0
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(ranges).toEqual(['all'])
})

test('a part that nobody asked for any more goes after a week', async () => {
  const bench = await fetching()
  const { root, server, sync, time } = bench
  await cutOff(bench)
  server.remove('/film.mkv')
  await sync()
  expect(partsIn(root)).toHaveLength(1)
  time.now += 8 * 86_400_000
  await sync()
  expect(partsIn(root)).toEqual([])
})

test('content that is wrong from the start is reported, and leaves nothing behind', async () => {
  const { root, server, sync } = await fetching()
  server.mischief = (action) =>
    action === 'download'
      ? { status: 200, headers: {}, body: [Buffer.alloc(LARGE.length, sha256Of(LARGE))] }
      : undefined
  expect((await sync()).skipped).toMatchObject([{ path: '/film.mkv', code: 'corrupt' }])
  expect(partsIn(root)).toEqual([])
  expect(readTree(root)).toEqual({})
})
