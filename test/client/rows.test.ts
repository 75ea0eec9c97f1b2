import { describe, expect, onTestFinished, test } from 'vitest'
import { makeApi } from '../../src/client/api.ts'
import { makeNodeTransport } from '../../src/client/node-http.ts'
import { push, readRows, type Operation, type Outcome } from '../../src/client/rows.ts'
import { deadAddress, json, serve } from './loopback-server.ts'

interface Sent {
  operations: Operation[]
}

/** A server whose answers are decided request by request, and a client that notes its waits instead of waiting. */
async function setUp(
  answer: (sent: Sent, request: number) => 'applied' | 'cut' | 'limited' | 'refused' | { results: unknown },
) {
  const bodies: Sent[] = []
  const server = await serve((request, response) => {
    const sent = JSON.parse(server.requests.at(-1)!.body || '{}') as Sent
    bodies.push(sent)
    const what = answer(sent, bodies.length)
    if (what === 'cut') request.socket.destroy()
    else if (what === 'limited')
      json(response, 429, { ok: false, code: 'rate_limited', error: 'slow' }, { 'retry-after': '7' })
    else if (what === 'refused') json(response, 403, { ok: false, code: 'forbidden', error: 'no' })
    else {
      const applied = sent.operations?.map(({ op_id }, index) => ({ index, ok: true, status: 'applied', op_id }))
      json(response, 200, {
        ok: true,
        cursor: 1,
        contiguous: true,
        ...(what === 'applied' ? { results: applied } : what),
      })
    }
  })
  const waits: number[] = []
  const told: number[] = []
  const sleep = async (ms: number) => void waits.push(ms)
  const transport = makeNodeTransport()
  const api = makeApi({ url: server.url, token: 'a'.repeat(64), transport })
  onTestFinished(() => api.close())
  const send = async (operations: Operation[]): Promise<Outcome[]> => {
    const outcomes: Outcome[] = []
    const patience = { sleep, waiting: (seconds: number) => void told.push(seconds) }
    for await (const some of push(api, operations, patience)) outcomes.push(...some)
    return outcomes
  }
  return { api, bodies, send, sleep, waits, told }
}

const insert = (index: number, content = ''): Operation => ({
  table: 'svc_notes',
  operation: 'INSERT',
  data: { title: `note ${index}`, content },
  op_id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
})
const inserts = (count: number, content?: string) => Array.from({ length: count }, (_, index) => insert(index, content))

describe('pushing rows', () => {
  test('sends at most 100 at once, in order', async () => {
    const { send, bodies } = await setUp(() => 'applied')
    const outcomes = await send(inserts(250))
    expect(bodies.map(({ operations }) => operations.length)).toEqual([100, 100, 50])
    expect(outcomes.map(({ op_id }) => op_id)).toEqual(inserts(250).map(({ op_id }) => op_id))
  })

  test('sends fewer at once when they are large', async () => {
    const { send, bodies } = await setUp(() => 'applied')
    await send(inserts(20, 'x'.repeat(900_000)))
    expect(bodies.flatMap(({ operations }) => operations)).toHaveLength(20)
    for (const body of bodies) expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(8 * 1_048_576)
    expect(bodies.length).toBeLessThan(5)
  })

  test('nothing to send is no request', async () => {
    const { send, bodies } = await setUp(() => 'applied')
    expect(await send([])).toEqual([])
    expect(bodies).toEqual([])
  })

  test('waits as long as a rate limit asks for, and says so', async () => {
    const { send, bodies, waits, told } = await setUp((_, request) => (request < 3 ? 'limited' : 'applied'))
    expect(await send(inserts(1))).toHaveLength(1)
    expect(waits).toEqual([7_000, 7_000])
    expect(told).toEqual([7, 7])
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
  })

  test('gives up when the limit does not clear', async () => {
    const { send, bodies } = await setUp(() => 'limited')
    await expect(send(inserts(1))).rejects.toMatchObject({ code: 'rate_limited' })
    expect(bodies).toHaveLength(5)
  })

  test('sends the very same operations again when the connection breaks and nobody knows what happened', async () => {
    const { send, bodies, waits } = await setUp((_, request) => (request === 1 ? 'cut' : 'applied'))
    expect(await send(inserts(2))).toHaveLength(2)
    expect(bodies).toHaveLength(2)
    expect(bodies[1]).toEqual(bodies[0])
    expect(waits).toEqual([1_000])
  })

  test('gives up on a connection that keeps breaking', async () => {
    const { send, bodies } = await setUp(() => 'cut')
    await expect(send(inserts(1))).rejects.toMatchObject({ name: 'Unreachable' })
    expect(bodies).toHaveLength(4)
  })

  test('does not repeat what was refused, and sends nothing after it', async () => {
    const { send, bodies, waits } = await setUp(() => 'refused')
    await expect(send(inserts(150))).rejects.toMatchObject({ code: 'forbidden' })
    expect(bodies).toHaveLength(1)
    expect(waits).toEqual([])
  })

  test('does not repeat where nobody listens', async () => {
    const { sleep, waits } = await setUp(() => 'applied')
    const api = makeApi({ url: await deadAddress(), token: undefined, transport: makeNodeTransport() })
    await expect(push(api, inserts(1), { sleep }).next()).rejects.toMatchObject({ name: 'Unreachable' })
    expect(waits).toEqual([])
  })

  test.each([{ results: [] }, { results: undefined }, { results: 'all fine' }])(
    'refuses results that do not match: %j',
    async (answer) => {
      const { send } = await setUp(() => answer)
      await expect(send(inserts(1))).rejects.toMatchObject({ name: 'Unreachable' })
    },
  )
})

describe('reading rows', () => {
  const read = async (answer: object) => {
    const server = await serve((_, response) => json(response, 200, { ok: true, ...answer }))
    const api = makeApi({ url: server.url, token: undefined, transport: makeNodeTransport() })
    onTestFinished(() => api.close())
    return readRows(api, 'svc_notes', { sleep: async () => undefined })
  }

  test('gives those of one table', async () => {
    expect(await read({ data: { svc_notes: [{ id: 1 }], svc_tasks: [{ id: 2 }] } })).toEqual([{ id: 1 }])
  })

  test('gives none of a table that the server does not have', async () => {
    expect(await read({ data: {} })).toEqual([])
  })

  test('fails when the server sends no data', async () => {
    await expect(read({})).rejects.toMatchObject({ name: 'Unreachable' })
  })
})
