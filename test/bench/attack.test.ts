import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { fuzz, type FuzzOptions, type Summary } from '../../bench/attack/fuzz.ts'
import type { Description } from '../../bench/attack/operations.ts'
import type { Attacker, Target } from '../../bench/attack/target.ts'
import { brokenAnywhere, lineOf } from '../../bench/attack/load/promises.ts'
import { playScenarios } from '../../bench/attack/load/run.ts'
import { scenarios } from '../../bench/attack/load/scenarios.ts'
import { openWorld } from '../../bench/attack/world.ts'
import { openWorkspace } from '../../bench/workspace.ts'

const quiet = () => undefined
const calm: FuzzOptions = { seed: 5, rounds: 20, slow: 20_000 }

describe('the service', () => {
  test('stands attacks on a few of its operations', async () => {
    const workspace = openWorkspace({ profiles: undefined, seconds: 0 })
    onTestFinished(() => workspace.clear())
    const world = await openWorld(workspace)
    const only = /^(filesystemRead|trashRestore|adminSetRole)$/
    const summary = await fuzz(world, { ...calm, only }, quiet)
    expect(summary.findings).toEqual([])
    expect(summary.shallow).toEqual([])
    expect(summary.operations).toBe(3)
    expect(summary.accepted).toBeGreaterThan(20)
    expect(summary.refused).toBeGreaterThan(500)
    expect(world.logged()).toBeUndefined()
    await world.close()
  })

  test('answers others while one client sends what is hostile or heavy, scenario by scenario', async () => {
    const workspace = openWorkspace({ profiles: undefined, seconds: 0 })
    onTestFinished(() => workspace.clear())
    const results = await playScenarios(workspace, scenarios, { seconds: 1, isShort: true, onResult: quiet })
    const [idle] = results
    const broken = results.flatMap((result) =>
      brokenAnywhere(result, idle!).map((promise) => `${promise} (${lineOf(result)})`),
    )
    expect(broken).toEqual([])
    expect(results.length).toBe(scenarios.length + 1)
  }, 600_000)
})

const CANARY = 'canary-0123456789abcdef'

const attacker: Attacker = { id: 1, username: 'eve', token: 'token', cookie: 'cookie', csrf: 'csrf', own: {} }

/** What a broken server keeps. */
interface Store {
  own: string
  other: string
  commits: number
}

interface Asked {
  text: string
  request: IncomingMessage
  response: ServerResponse
  store: Store
}

const HEADERS = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' }

function say({ response }: Asked, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { ...HEADERS, ...headers }).end(JSON.stringify(body))
}

const refusal = (code = 'bad_request') => ({ ok: false, success: false, error: 'No.', code })

/** Answers as it should be done; what the mistakes below are made in. */
function answerWell(asked: Asked): void {
  const { headers, method } = asked.request
  if (method !== 'GET') return say(asked, 405, refusal())
  if (headers.authorization !== 'Bearer token') return say(asked, 401, refusal('unauthorized'))
  if (asked.text === '' || asked.text.length > 100) return say(asked, 400, refusal())
  say(asked, 200, { ok: true })
}

interface Mistake {
  /** Whether a request meets it. */
  when(asked: Asked): boolean
  make(asked: Asked): void
  /** What is found of it. */
  faults: string[]
}

const hasQuote = ({ text }: Asked): boolean => text.includes("'")
const isLong = ({ text }: Asked): boolean => text.length > 100

const mistakes: Record<string, Mistake> = {
  'a failure': { when: hasQuote, make: (asked) => say(asked, 500, refusal('internal')), faults: ['answers 500'] },
  'SQL in a text': {
    when: hasQuote,
    make: (asked) => say(asked, 400, { ...refusal(), error: 'SQLITE_ERROR: near "x"' }),
    faults: ['shows an error of the database'],
  },
  'a stack': {
    when: isLong,
    make: (asked) => say(asked, 400, { ...refusal(), error: new Error('x').stack }),
    faults: ['shows a stack', 'shows a place in a source'],
  },
  'a path': {
    when: isLong,
    make: (asked) => say(asked, 400, { ...refusal(), error: 'open /srv/data/svc.db' }),
    faults: ['shows a path of the server'],
  },
  'a file': {
    when: ({ text }) => text.includes('etc/passwd'),
    make: (asked) => say(asked, 200, { ok: true, content: 'root:x:0:0:root:/root:/bin/bash' }),
    faults: ['shows a file of the system'],
  },
  'what is of somebody else': {
    when: ({ text }) => text === '77',
    make: (asked) => say(asked, 200, { ok: true, content: `${CANARY}-note` }),
    faults: ['shows something of somebody else'],
  },
  'no look at credentials': {
    when: ({ request }) => request.method === 'GET' && request.headers.authorization?.startsWith('Basic') === true,
    make: (asked) => say(asked, 200, { ok: true }),
    faults: ['accepts with 200 what it must refuse'],
  },
  'another shape': {
    when: isLong,
    make: (asked) => say(asked, 400, { message: 'No.' }),
    faults: ['gives a refusal that does not say ok: false, success: false'],
  },
  'an unknown code': {
    when: isLong,
    make: (asked) => say(asked, 400, refusal('nonsense')),
    faults: ['gives a refusal with the unknown code "nonsense"'],
  },
  'a page': {
    when: isLong,
    make: (asked) => say(asked, 400, {}, { 'content-type': 'text/html' }),
    faults: ['gives a refusal of type text/html'],
  },
  'a status nobody named': {
    when: isLong,
    make: (asked) => say(asked, 418, refusal()),
    faults: ['answers 418, which the description does not name'],
  },
  'a header from a value': {
    when: ({ text }) => text.includes('\r\n'),
    make: (asked) => say(asked, 200, { ok: true }, { 'x-injected': '1' }),
    faults: ['lets a value become a header'],
  },
  'a type to be guessed': {
    when: hasQuote,
    make: (asked) => say(asked, 200, { ok: true }, { 'x-content-type-options': '' }),
    faults: ['lets browsers guess the type'],
  },
  'no answer': {
    when: ({ text }) => text.includes('\0'),
    make: ({ request }) => request.socket.destroy(),
    faults: ['is not answered: socket hang up'],
  },
  'a change in spite of a refusal': {
    when: isLong,
    make(asked) {
      asked.store.own += 'x'
      asked.store.commits++
      say(asked, 400, refusal())
    },
    faults: ['changes something although it is refused'],
  },
  'a change to what is of somebody else': {
    when: ({ text }) => text === '77',
    make(asked) {
      asked.store.other += 'x'
      asked.store.commits++
      say(asked, 200, { ok: true })
    },
    faults: ['changes something of somebody else'],
  },
}

const description: Description = {
  paths: {
    '/api/things.php/get': {
      get: {
        operationId: 'thingsGet',
        security: [{ device: [] }],
        parameters: [{ name: 'text', in: 'query', required: true, schema: { type: 'string' }, example: 'tea' }],
        responses: { 200: {}, 400: {}, 401: {} },
      },
    },
  },
  components: {
    schemas: Object.fromEntries(
      ['bad_request', 'unauthorized', 'internal'].map((code) => [code, { properties: { code: { const: code } } }]),
    ),
  },
}

/** A server with one operation, that makes a mistake or none. */
async function targetWith(mistake?: Mistake): Promise<{ target: Target; asked: string[] }> {
  const store: Store = { own: '', other: '', commits: 0 }
  const asked: string[] = []
  const serve: RequestListener = (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const text = new URL(request.url!, 'http://x').searchParams.getAll('text').at(-1) ?? ''
    const one: Asked = { text, request, response, store }
    request.resume().on('end', () => (mistake?.when(one) ? mistake.make(one) : answerWell(one)))
  }
  const server = createServer(serve)
  server.on('checkExpectation', serve)
  server.on('clientError', (_, socket) => {
    const body = JSON.stringify(refusal())
    const head = `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close`
    socket.end(`HTTP/1.1 431 Too Large\r\n${head}\r\n\r\n${body}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAttack = () => {
    server.closeAllConnections()
    server.close()
  }
  const target: Target = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    description,
    newcomer: () => Promise.resolve(attacker),
    foreign: [77],
    canary: CANARY,
    places: ['/srv/data'],
    commits: () => store.commits,
    state: () => ({ own: store.own, other: store.other }),
    logged: () => undefined,
  }
  return { target, asked }
}

let afterAttack: () => void = quiet
afterEach(() => afterAttack())

const attack = (target: Target, options: Partial<FuzzOptions> = {}): Promise<Summary> =>
  fuzz(target, { ...calm, only: /^thingsGet$/, ...options }, quiet)

describe('a server', () => {
  test('without mistakes is found without any', async () => {
    const { target } = await targetWith()
    const { findings, shallow, requests } = await attack(target)
    expect([findings, shallow]).toEqual([[], []])
    expect(requests).toBeGreaterThan(200)
  })

  test.each(Object.entries(mistakes))('that makes the mistake: %s', async (_, mistake) => {
    const { target } = await targetWith(mistake)
    const { findings } = await attack(target)
    expect(findings.map(({ fault }) => fault)).toEqual(mistake.faults)
    expect(findings[0]!.curl).toMatch(/^curl -sS .*"\$SVC_URL"'\/api\/things\.php\/get/)
  })

  test('that is slow', async () => {
    const { target } = await targetWith()
    // Nobody answers before the request was sent.
    const { findings } = await attack(target, { slow: 0, rounds: 0 })
    expect(findings.map(({ fault }) => fault)).toEqual(['takes longer than 0 ms'])
  })

  test('is sent the same requests by the same seed, and others by another one', async () => {
    const sent = async (seed: number) => {
      const { target, asked } = await targetWith()
      await attack(target, { seed, rounds: 40 })
      afterAttack()
      return asked
    }
    const first = await sent(7)
    expect(await sent(7)).toEqual(first)
    expect(await sent(8)).not.toEqual(first)
  })
})
