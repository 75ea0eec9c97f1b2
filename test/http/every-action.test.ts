import { afterAll, expect, inject, test } from 'vitest'
import { actions, type AnyAction } from '../../src/contract/contract.ts'
import { JSON_BODY, OPEN_BODY } from '../../src/contract/limits.ts'
import { session, sessionLogin2fa, sessionLogout } from '../../src/contract/session.ts'
import { syncAuth } from '../../src/contract/sync-auth.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { syncStatus } from '../../src/contract/sync-status.ts'
import type { Account } from '../support/account.ts'
import { PASSWORD, sessionOf } from '../support/browser.ts'
import { disable } from '../support/chat.ts'
import {
  bodyOf,
  type Caller,
  callerOf,
  clientBy,
  prepare,
  prepared,
  restoreService,
  type Ready,
  type Way,
  waysOf,
} from '../support/examples.ts'
import { explores } from '../support/explores.ts'
import { sha256Of } from '../support/contents.ts'
import { requestOf, type Reply } from '../support/request.ts'
import { departures } from '../support/schemas.ts'
import { serverOfTest, serverOfFile, startServer, type TestServer } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'
import { unpacked } from '../support/tar.ts'
import { unzipped } from '../support/zip.ts'

const server = await serverOfFile()
await server.local.domain.accounts.create({ username: 'ada', password: PASSWORD })

const isPostgres = inject('postgres') !== undefined

/** What every action is inspected for, by action: one test runs all of it, and names everything that is wrong. */
const inspections = new Map<AnyAction, { title: string; inspect: () => Promise<void> }[]>()

/** What the titles of a section begin with. */
let subject = ''

function section(name: string, declare: () => void): void {
  subject = name === '' ? '' : `${name} `
  declare()
}

/**
 * Adds an inspection of each of some actions. Each case holds the action, and texts for the `%s` of the title. On Postgres
 * only inspections of rows run: everything else is decided before rows are read.
 */
function inspect<Case extends unknown[]>(
  cases: readonly (readonly [...Case])[],
  title: string,
  check: (...values: Case) => Promise<void>,
  { concerns = 'requests' }: { concerns?: 'requests' | 'rows' } = {},
): void {
  if (isPostgres && concerns !== 'rows') return
  for (const values of cases) {
    const action = values.find((value): value is AnyAction => actions.includes(value as AnyAction))!
    const texts = values.filter((value) => typeof value === 'string')
    const added = {
      title: `${subject}${title.replace(/%s/g, () => texts.shift()!)}`,
      inspect: () => check(...(values as readonly unknown[] as Case)),
    }
    inspections.set(action, [...(inspections.get(action) ?? []), added])
  }
}

const shared = new Map<string, Promise<Caller>>()

/** A server of its own for some tests, started by the first that needs it. */
function whenNeeded(start: () => Promise<TestServer>): () => Promise<TestServer> {
  let started: Promise<TestServer> | undefined
  afterAll(async () => (await started)?.close())
  return () => (started ??= start())
}

let ready: { action: AnyAction; way: Way | undefined; made: Promise<Ready> } | undefined

/** A caller with what the example needs, the same one for all inspections that only see refusals. */
function readyFor(action: AnyAction, way?: Way): Promise<Ready> {
  if (ready?.action !== action || ready.way !== way) ready = { action, way, made: prepare(server, action, way) }
  return ready.made
}

/** Somebody who may call the action: the same one again, for calls that are refused and leave everything as it is. */
function refusedCaller(action: AnyAction): Promise<Caller> {
  const key = `${waysOf(action)[0]} ${needsAdmin(action)}`
  const caller = shared.get(key) ?? callerOf(server, action)
  shared.set(key, caller)
  return caller
}

const takesJson = (action: AnyAction) => action.method === 'POST' && action.sends !== 'bytes'
const nameOf = ({ method, path, name }: AnyAction) => `${method} ${path}?action=${name}`
const named = (which: (action: AnyAction) => boolean = () => true) =>
  actions.filter(which).map((action) => [nameOf(action), action] as const)
/**
 * The same with each way in which the action may be called. One way stands for both on Postgres, where only the rows differ, and
 * where nobody explores.
 */
const called = (which?: (action: AnyAction) => boolean) =>
  named(which).flatMap(([name, action]) =>
    (isThorough ? waysOf(action) : waysOf(action).slice(0, 1)).map((way) => [name, way, action] as const),
  )
const isThorough = explores && !isPostgres

const isGuarded = ({ auth }: AnyAction) => auth !== 'anyone'
const allows = ({ auth }: AnyAction, way: 'device' | 'session') => auth !== 'anyone' && auth[way] === true
const needsAdmin = ({ auth }: AnyAction) => auth !== 'anyone' && auth.admin === true
/** What an action answers when all is well. */
const success = (action: AnyAction): number => action.status ?? 200
const challengeOf = ({ path }: AnyAction) => (path.startsWith('/api/sync/') ? 'Bearer' : null)

const failure = (code: string, more: object = {}): object => ({
  ok: false,
  success: false,
  error: expect.any(String) as string,
  code,
  ...more,
})

/** What there is to say about a reply: its status, and why it is not the one that all is well with. */
const outcome = (action: AnyAction, { status, bytes }: Reply) => [
  status,
  status === success(action) ? '' : bytes.toString(),
]

interface Property {
  type?: string
  anyOf?: { type?: string }[]
  minLength?: number
  pattern?: string
}
const properties = (action: AnyAction) => action.params.properties as Record<string, Property>
const fieldsOf = (which: (action: AnyAction) => boolean) =>
  actions
    .filter(which)
    .flatMap((action) =>
      Object.entries(properties(action)).map(([field, property]) => [nameOf(action), field, action, property] as const),
    )

const queryOf = (values: object) =>
  new URLSearchParams(Object.entries(values).map(([name, value]): [string, string] => [name, String(value)]))

/** What an action answers, in the form it declared. */
async function assertDeclared(action: AnyAction, reply: Reply): Promise<void> {
  const { format, contentMediaType } = action.result as { format?: string; contentMediaType?: string }
  if (format === 'binary') {
    expect(reply.bytes.toString()).toBe('hello world\n')
    return
  }
  if (contentMediaType !== undefined) {
    expect(reply.headers.get('content-type')).toBe(contentMediaType)
    if (contentMediaType === 'application/zip')
      expect(await unzipped(reply.bytes)).toContainEqual(
        expect.objectContaining({ name: 'hello.txt', sha256: sha256Of('hello world\n') }),
      )
    else if (contentMediaType === 'image/webp') expect(reply.bytes.toString('latin1', 0, 4)).toBe('RIFF')
    else expect((await unpacked(reply.bytes))[0]).toMatchObject({ content: 'hello world\n' })
    return
  }
  expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(reply.headers.get('cache-control')).toMatch(/no-store|private, no-cache/)
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
  expect(departures(action.result, reply.json)).toEqual([])
}

section('', () => {
  inspect(
    called(),
    '%s with %s does its example and answers what it declares, nothing else',
    async (_, way, action) => {
      const { client, params, more } = await prepare(server, action, way)
      const reply = await client.call(action, params, more)
      expect(outcome(action, reply)).toEqual([success(action), ''])
      await assertDeclared(action, reply)
    },
    { concerns: 'rows' },
  )

  inspect(called(), '%s with %s ignores what it does not know', async (_, way, action) => {
    const { client, params, more } = await prepare(server, action, way)
    const unknown = { zzz: 1, user_id: 1, ok: false, toString: 'x' }
    const [path, sent] = requestOf(action, { ...unknown, ...params }, more)
    // A key may come twice as long as nobody asks for it.
    const query = queryOf(sent.query ?? {})
    query.append('zzz', '2')
    const reply = await client.send(path, { ...sent, query })
    expect(outcome(action, reply)).toEqual([success(action), ''])
  })

  const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
  const methodsOf = (which: (action: AnyAction) => boolean) =>
    actions
      .filter(which)
      .flatMap(({ method, answers }) => (method === 'GET' && answers === 'bytes' ? ['GET', 'HEAD'] : [method]))

  async function refusesMethods(path: string, query: object, allowed: string[]): Promise<void> {
    const { token } = (await refusedCaller(syncFiles.actions.manifest)).account
    const before = await commitsSeenBy(server.database)
    for (const method of METHODS) {
      if (allowed.includes(method)) continue
      const reply = await server.send(path, { method, query: queryOf(query), token })
      expect([method, reply.status, reply.headers.get('allow')]).toEqual([method, 405, allowed.join(', ')])
      if (method !== 'HEAD')
        expect(reply.json).toEqual({ ...failure('method_not_allowed'), error: 'Method not allowed' })
    }
    expect(await commitsSeenBy(server.database)).toEqual(before)
  }

  inspect(named(), '%s answers 405 to other methods and says which one it takes', (_, { path, name, example }) =>
    refusesMethods(
      path,
      { action: name, ...example },
      methodsOf((other) => other.path === path && other.name === name),
    ),
  )

  inspect(named(), '%s takes its name once', async (_, action) => {
    const { client } = await refusedCaller(action)
    const [path, sent] = requestOf(action, action.example, bodyOf(action))
    const query = queryOf(sent.query ?? {})
    query.append('action', 'ping')
    const reply = await client.send(path, { ...sent, query })
    expect([reply.status, reply.json]).toEqual([
      400,
      failure('bad_request', { details: [{ path: 'action', message: 'is given more than once' }] }),
    ])
  })

  const byDefault = ({ byDefault }: AnyAction) => byDefault === true
  const paths = new Set(actions.filter(byDefault).map(({ path }) => path))

  inspect(called(byDefault), '%s with %s needs no name', async (_, way, action) => {
    const { client, params, more } = await prepare(server, action, way)
    const [path, sent] = requestOf(action, params, more)
    const reply = await client.send(path, { ...sent, query: {} })
    expect(outcome(action, reply)).toEqual([success(action), ''])
    await assertDeclared(action, reply)
  })

  test.each([...paths])('%s without a name answers 405 to other methods', (path) =>
    refusesMethods(
      path,
      {},
      methodsOf((action) => action.path === path && byDefault(action)),
    ),
  )
})

const NOBODY = 'a'.repeat(64)

section('an action that asks who is calling', () => {
  const strangers = [
    ['nothing', {}],
    ['an empty header', { authorization: '' }],
    ['no token behind the word', { authorization: 'Bearer ' }],
    ['a token nobody has', { authorization: `Bearer ${'0'.repeat(64)}` }],
    ['a token that is too short', { authorization: `Bearer ${'a'.repeat(63)}` }],
    ['a token that is too long', { authorization: `Bearer ${'a'.repeat(65)}` }],
    ['a pending token', { authorization: `Bearer p_${NOBODY}` }],
    ['another scheme', { authorization: `Basic ${Buffer.from('ada:analytical engine').toString('base64')}` }],
    ['a cookie', { cookie: `PHPSESSID=${NOBODY}` }],
    ['an empty cookie', { cookie: 'PHPSESSID=' }],
    ['a pending cookie', { cookie: `PHPSESSID=p_${NOBODY}` }],
    ['a cookie of another name', { cookie: `SESSION=${NOBODY}` }],
  ] as const

  inspect(named(isGuarded), '%s refuses a stranger and changes nothing', async (_, action) => {
    const { account, params, more } = await readyFor(action)
    const inSession = await sessionOf(server, account.id)
    const bearer = { authorization: `Bearer ${account.token}` }
    const spoilt = [
      ['a token cut short', { authorization: bearer.authorization.slice(0, -1) }],
      ['a session cut short', { ...inSession, cookie: inSession['cookie']!.slice(0, -1) }],
      ['two sessions', { ...inSession, cookie: `${inSession['cookie']}; PHPSESSID=${NOBODY}` }],
      ['a session beside a token nobody has', { ...inSession, authorization: `Bearer ${NOBODY}` }],
      ...(allows(action, 'device') ? [] : [['a device token', bearer] as const]),
      ...(allows(action, 'session') ? [] : [['a session', inSession] as const]),
    ] as const
    const before = await commitsSeenBy(server.database)
    for (const [what, headers] of [...strangers, ...spoilt]) {
      const sent = { ...more, headers: { ...more.headers, ...headers } }
      const reply = await server.send(...requestOf(action, params, sent))
      expect([what, reply.status, reply.json]).toEqual([what, 401, failure('unauthorized')])
      expect(reply.headers.get('www-authenticate')).toBe(challengeOf(action))
    }
    const inQuery = await server.send(action.path, {
      method: action.method,
      query: { action: action.name, ...params, token: account.token, PHPSESSID: inSession['cookie']!.split('=')[1] },
    })
    expect(inQuery.status).toBe(401)
    expect(await commitsSeenBy(server.database)).toEqual(before)
  })

  inspect(called(isGuarded), '%s with %s refuses somebody who was disabled', async (_, way, action) => {
    const { account, client, params, more } = await prepare(server, action, way)
    await disable(server, account)
    const before = await commitsSeenBy(server.database)
    const reply = await client.call(action, params, more)
    expect([reply.status, reply.json]).toEqual([401, failure('unauthorized')])
    expect(await commitsSeenBy(server.database)).toEqual(before)
  })

  inspect(called(needsAdmin), '%s with %s refuses somebody who is no administrator', async (_, way, action) => {
    const { client, params, more } = await prepare(server, action, way, 'user')
    const before = await commitsSeenBy(server.database)
    const reply = await client.call(action, params, more)
    expect([reply.status, reply.json]).toEqual([403, failure('forbidden')])
    expect(await commitsSeenBy(server.database)).toEqual(before)
  })

  const OWNED = ['room_id', 'message_id', 'session_id', 'token_id', 'version_id', 'profile_id', 'id']
  const ofSomebody = (action: AnyAction) => OWNED.some((field) => field in properties(action))

  inspect(
    called(ofSomebody),
    "%s with %s leaves other people's things alone",
    async (_, way, action) => {
      const { client, params, more } = await prepare(server, action, way)
      const other = await callerOf(server, action, way)
      const before = await commitsSeenBy(server.database)
      const reply = await other.client.call(action, params, more)
      expect([403, 404]).toContain(reply.status)
      expect(reply.json).toEqual(failure(reply.status === 403 ? 'forbidden' : 'not_found'))
      expect(await commitsSeenBy(server.database)).toEqual(before)
      // They are there, for whoever they belong to.
      expect(outcome(action, await client.call(action, params, more))).toEqual([success(action), ''])
    },
    { concerns: 'rows' },
  )
})

section('a page of another site', () => {
  const fromElsewhere = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://elsewhere.example' },
    { origin: 'null' },
  ]

  async function refusesAll(action: AnyAction, variants: Record<string, string>[], way = waysOf(action)[0]) {
    const { client, params, more } = await readyFor(action, way)
    const before = await commitsSeenBy(server.database)
    for (const headers of variants) {
      const reply = await client.call(action, params, { ...more, headers: { ...more.headers, ...headers } })
      expect([headers, reply.status, reply.json]).toEqual([headers, 403, failure('csrf')])
    }
    expect(await commitsSeenBy(server.database)).toEqual(before)
  }

  inspect(
    named((action) => allows(action, 'session')),
    'cannot use a session for %s',
    (_, action) => refusesAll(action, fromElsewhere, 'a session'),
  )

  inspect(
    named(({ sameOrigin }) => sameOrigin === true),
    'cannot call %s',
    (_, action) => refusesAll(action, fromElsewhere),
  )

  const posts = named((action) => action.method === 'POST' && allows(action, 'session'))

  inspect(posts, 'does not know the token that %s needs in a session', async (_, action) => {
    const { account, params, more } = await readyFor(action, 'a session')
    const { cookie } = (await sessionOf(server, account.id)) as { cookie: string }
    const { 'x-csrf-token': another } = (await sessionOf(server, account.id)) as { 'x-csrf-token': string }
    const before = await commitsSeenBy(server.database)
    for (const headers of [{}, { 'x-csrf-token': '' }, { 'x-csrf-token': NOBODY }, { 'x-csrf-token': another }]) {
      const reply = await server.send(
        ...requestOf(action, params, { ...more, headers: { ...more.headers, cookie, ...headers } }),
      )
      expect([headers, reply.status, reply.json]).toEqual([headers, 403, failure('csrf')])
    }
    expect(await commitsSeenBy(server.database)).toEqual(before)
  })

  inspect(
    posts.filter(([, action]) => takesJson(action)),
    '%s takes the token as a field',
    async (_, action) => {
      const { account, params } = await prepare(server, action, 'a session')
      const { cookie, 'x-csrf-token': csrf_token } = (await sessionOf(server, account.id)) as Record<string, string>
      const reply = await server.send(...requestOf(action, { ...params, csrf_token }, { headers: { cookie: cookie! } }))
      expect(outcome(action, reply)).toEqual([success(action), ''])
    },
  )
})

section('the parameters', () => {
  const required = actions.flatMap((action) =>
    ((action.params as { required?: string[] }).required ?? []).map(
      (field) => [nameOf(action), field, action] as const,
    ),
  )

  inspect(required, 'of %s are refused without %s, by name', async (_, field, action) => {
    const { client } = await refusedCaller(action)
    const before = await commitsSeenBy(server.database)
    const { [field]: _left, ...rest } = action.example as Record<string, unknown>
    const reply = await client.call(action, rest, bodyOf(action))
    expect([reply.status, reply.json]).toEqual([
      400,
      failure('bad_request', { details: [{ path: field, message: 'is missing' }] }),
    ])
    expect(await commitsSeenBy(server.database)).toEqual(before)
  })

  const wrongInBody: Record<string, unknown[]> = {
    string: [1, true, null, [], {}, ['x']],
    integer: ['1', 1.5, true, null, [], {}, -1, 2 ** 53],
    boolean: ['true', 0, 1, null, []],
    array: ['x', {}, null, 1, true],
    object: ['x', [], null, 1, true],
    // One of some texts.
    union: [1, true, null, [], {}, ['x'], '', 'nonsense', 'toString'],
  }

  /** Values of other types; of a field that may be null, those of the type beside it. */
  function wrongFor({ type, anyOf = [] }: Property): unknown[] {
    const types = anyOf.map((one) => one.type)
    const beside = types.includes('null') ? types.find((one) => one !== 'null') : undefined
    if (beside) return wrongInBody[beside]!.filter((value) => value !== null)
    return wrongInBody[type ?? 'union']!
  }

  /** Every field of an action at once, with one unsuitable value each, until each had all of its own. */
  function roundsOf(fields: [string, unknown[]][]): Record<string, unknown>[] {
    const rounds = Math.max(0, ...fields.map(([, wrong]) => wrong.length))
    return Array.from({ length: rounds }, (_, round) =>
      Object.fromEntries(fields.map(([field, wrong]) => [field, wrong[round % wrong.length]])),
    )
  }

  inspect(named(takesJson), 'of %s are refused, each by name, when they have other types', async (_, action) => {
    const { client } = await refusedCaller(action)
    const before = await commitsSeenBy(server.database)
    const fields = Object.entries(properties(action)).map(([field, property]): [string, unknown[]] => [
      field,
      wrongFor(property),
    ])
    for (const wrong of roundsOf(fields)) {
      const { status, json } = await client.call(action, { ...action.example, ...wrong })
      expect([wrong, status, json]).toEqual([wrong, 400, failure('bad_request', { details: expect.any(Array) })])
      const paths = (json['details'] as { path: string }[]).map(({ path }) => path)
      expect([wrong, paths]).toEqual([wrong, expect.arrayContaining(Object.keys(wrong))])
    }
    expect(await commitsSeenBy(server.database)).toEqual(before)
  })

  const wrongInQuery: Record<string, string[]> = {
    string: [''],
    integer: ['', 'x', '1.5', '-1', '+1', '1e3', '0x10', ' 5', '5 ', '٥', '1'.repeat(16), 'null', 'true'],
    boolean: ['', 'yes', '2', 'TRUE', 'null'],
  }
  const queryFields = fieldsOf((action) => !takesJson(action))
    // Any text is an epoch, also one that is not ours.
    .filter(([, field]) => field !== 'epoch')

  inspect(queryFields, 'of %s are refused when %s is no such value', async (_, field, action, { type }) => {
    const { client } = await refusedCaller(action)
    const before = await commitsSeenBy(server.database)
    for (const wrong of wrongInQuery[type!]!) {
      const { status, json } = await client.call(action, { ...action.example, [field]: wrong }, bodyOf(action))
      expect([wrong, status, json]).toEqual([
        wrong,
        400,
        failure('bad_request', { details: [{ path: field, message: expect.any(String) as string }] }),
      ])
    }
    expect(await commitsSeenBy(server.database)).toEqual(before)
  })

  inspect(queryFields, 'of %s are refused when %s is given twice', async (_, field, action, _property) => {
    const { client } = await refusedCaller(action)
    const value = String((action.example as Record<string, unknown>)[field] ?? 1)
    const query = queryOf({ action: action.name, ...action.example, [field]: value })
    query.append(field, value)
    const { status, json } = await client.send(action.path, { method: action.method, query, ...bodyOf(action) })
    expect([status, json]).toEqual([
      400,
      failure('bad_request', { details: [{ path: field, message: 'is given more than once' }] }),
    ])
  })
})

section('the body', () => {
  const jsonActions = named(takesJson)

  async function refusedAll(
    action: AnyAction,
    sent: { body: string; type?: string }[],
    status: number,
    code: string,
  ): Promise<void> {
    const { client } = await refusedCaller(action)
    const before = await commitsSeenBy(server.database)
    for (const { body, type = 'application/json' } of sent) {
      const headers: Record<string, string> = type ? { 'content-type': type } : {}
      const reply = await client.send(action.path, {
        method: 'POST',
        query: { action: action.name },
        headers,
        body: Buffer.from(body),
      })
      const what = `${type} ${body.slice(0, 40)}`
      expect([what, reply.status, reply.json]).toEqual([what, status, expect.objectContaining(failure(code))])
    }
    expect(await commitsSeenBy(server.database)).toEqual(before)
  }

  inspect(jsonActions, 'of %s is JSON, never what a web page may send without asking', (_, action) => {
    const body = JSON.stringify(action.example)
    const types = [
      'text/plain',
      'text/plain;charset=UTF-8',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/html',
      '',
    ]
    return refusedAll(
      action,
      types.map((type) => ({ body, type })),
      415,
      'unsupported_media_type',
    )
  })

  inspect(jsonActions, 'of %s is an object of bounded depth without tricks', (_, action) => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    const lists = `{"a":${'['.repeat(32)}${']'.repeat(32)}}`
    // As deep as fits into what the action takes at all.
    const levels = action.auth === 'anyone' ? 8_000 : 200_000
    const deep = `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`
    const bodies = ['[]', '1', '"x"', 'null', 'true', '{', '{"a":1', '{"a":1}x', nested(33), lists, deep]
    const tricks = [
      '{"__proto__":{"admin":true}}',
      '{"a":{"__proto__":{}}}',
      '{"\\u005f_proto__":1}',
      '{"constructor":{"prototype":{}}}',
    ]
    return refusedAll(
      action,
      [...bodies, ...tricks].map((body) => ({ body })),
      400,
      'bad_request',
    )
  })

  /** Whether an empty object is too little. */
  const needsSomething = (action: AnyAction) =>
    (action.params as { required?: string[] }).required !== undefined || action === sessionLogin2fa.actions.login_2fa

  inspect(jsonActions, 'of %s may be as large as its limit and no larger', async (_, action) => {
    const { client } = await callerOf(server, action)
    const limit = action.auth === 'anyone' ? OPEN_BODY : (action.maxBody ?? JSON_BODY)
    const before = await commitsSeenBy(server.database)
    const sized = async (bytes: number) => {
      const text = `{"zzz":"${'a'.repeat(bytes - 10)}"}`
      expect(text.length).toBe(bytes)
      const headers = { 'content-type': 'application/json' }
      return client.send(action.path, { method: 'POST', query: { action: action.name }, headers, body: text })
    }
    const over = await sized(limit + 1)
    expect([over.status, over.json]).toEqual([413, failure('too_large')])
    expect(await commitsSeenBy(server.database)).toEqual(before)
    expect((await sized(limit)).status).toBe(needsSomething(action) ? 400 : success(action))
  })

  test('a body may be nested 32 levels deep', async () => {
    const account = await prepared(server)
    const zzz = JSON.parse(`${'{"a":'.repeat(31)}1${'}'.repeat(31)}`) as object
    expect((await account.call(syncFiles.actions.mkdir, { path: '/deep', zzz })).json).toMatchObject({ created: true })
  })

  inspect(called(takesJson), 'of %s with %s may name the action, where the query does not', async (_, way, action) => {
    const { client, params, more } = await prepare(server, action, way)
    const [path, sent] = requestOf(action, { ...params, action: action.name }, more)
    const reply = await client.send(path, { ...sent, query: {} })
    expect(outcome(action, reply)).toEqual([success(action), ''])
    await assertDeclared(action, reply)
  })

  inspect(
    named((action) => takesJson(action) && isGuarded(action)),
    'of %s that names the action refuses a stranger all the same',
    async (_, action) => {
      const before = await commitsSeenBy(server.database)
      const [path, sent] = requestOf(action, { ...action.example, action: action.name })
      const reply = await server.send(path, { ...sent, query: {} })
      expect([reply.status, reply.json, reply.headers.get('www-authenticate')]).toEqual([
        401,
        failure('unauthorized'),
        challengeOf(action),
      ])
      expect(await commitsSeenBy(server.database)).toEqual(before)
    },
  )

  test('a body names an action in vain when the query names another', async () => {
    const account = await prepared(server)
    const { status, json } = await account.call(syncFiles.actions.mkdir, { path: '/made', action: 'delete' })
    expect([status, json]).toEqual([200, { ok: true, path: '/made', created: true }])
    expect((await account.manifest()).directories).toEqual(['/made'])
  })

  test('a body cannot name an action that is a GET, takes bytes or does not exist', async () => {
    const { token } = await prepared(server)
    const ask = (path: string, action: unknown) =>
      server.send(path, {
        method: 'POST',
        token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ action, path: '/x' }),
      })
    const answer = async (reply: Promise<Reply>) => {
      const { status, json, headers } = await reply
      return [status, json['code'], headers.get('allow')]
    }
    expect(await answer(ask('/api/sync/files.php', 'manifest'))).toEqual([405, 'method_not_allowed', 'GET, HEAD'])
    expect(await answer(ask('/api/sync/data.php', 'delta'))).toEqual([405, 'method_not_allowed', 'GET'])
    expect(await answer(ask('/api/sync/files.php', 'upload'))).toEqual([400, 'unknown_action', null])
    for (const action of [
      'nonsense',
      '',
      5,
      null,
      ['push'],
      { toString: 'push' },
      '__proto__',
      'constructor',
      undefined,
    ]) {
      expect(await answer(ask('/api/sync/data.php', action))).toEqual([400, 'unknown_action', null])
    }
  })
})

/** GET and POST, as far as an endpoint has actions with them: any other method is refused before the action is looked at. */
const methodsOf = (path: string) =>
  ['GET', 'POST'].filter((method) => actions.some((action) => action.path === path && action.method === method))

test.each([...new Set(actions.map(({ path }) => path))])('%s knows only its own actions', async (path) => {
  const { token } = await prepared(server)
  for (const action of ['nonsense', '', 'PING', 'ping ', '__proto__', 'constructor', 'toString', 'a'.repeat(5_000)]) {
    for (const method of methodsOf(path)) {
      const reply = await server.send(path, { method, query: { action }, token })
      expect([action, reply.status, reply.json]).toEqual([action, 400, failure('unknown_action')])
    }
  }
  if (actions.some((action) => action.path === path && action.byDefault)) return
  const none = await server.send(path, { method: methodsOf(path)[0]!, token })
  expect([none.status, none.json['code']]).toEqual([400, 'unknown_action'])
})

test('a path that is nobody’s is not found', async () => {
  for (const path of [
    '/api',
    '/api/',
    '/api/sync/data',
    '/api/sync/data.php/',
    '/API/sync/data.php',
    '/../etc/passwd',
  ]) {
    const reply = await server.send(path, { query: { action: 'ping' } })
    expect([path, reply.status, reply.json]).toEqual([path, 404, { ...failure('not_found'), error: 'Nicht gefunden' }])
  }
})

section('before there is an administrator', () => {
  const fresh = whenNeeded(() => startServer({ administered: false }))

  inspect(
    named(({ openIn = [] }) => !openIn.includes('setup')),
    '%s answers that the service must be set up',
    async (_, action) => {
      const reply = await (await fresh()).send(...requestOf(action, action.example, bodyOf(action)))
      expect([reply.status, reply.json]).toEqual([503, failure('setup_required')])
    },
  )

  test('ping and health answer before there is an administrator', async () => {
    const { send } = await fresh()
    expect((await send(...requestOf(syncStatus.actions.ping, {}))).status).toBe(200)
    expect((await send('/healthz')).status).toBe(200)
    expect((await send('/readyz')).status).toBe(200)
  })

  test('a user who is none changes nothing, the first administrator opens the service', async () => {
    const one = await serverOfTest({ administered: false })
    const user = await one.account()
    expect((await user.call(syncStatus.actions.info)).json['code']).toBe('setup_required')
    const admin = await one.account({ role: 'admin' })
    expect((await admin.call(syncStatus.actions.info)).status).toBe(200)
    expect((await user.call(syncStatus.actions.info)).status).toBe(200)
  })
})

section('under maintenance', () => {
  const until = Date.UTC(2026, 10, 21, 12, 30)
  let user: Account
  const underMaintenance = whenNeeded(async () => {
    const closed = await startServer()
    user = await prepared(closed)
    await closed.set('#maintenance', { message: 'Back after tea.', until })
    return closed
  })

  const isClosed = (action: AnyAction) => isGuarded(action) && !action.openIn?.includes('maintenance')

  inspect(called(isClosed), '%s with %s answers a user until when and why not', async (_, way, action) => {
    const closed = await underMaintenance()
    const client = await clientBy(closed, user, way)
    const before = await commitsSeenBy(closed.database)
    const refused = await client.call(action, action.example, bodyOf(action))
    expect([refused.status, refused.json, refused.headers.get('retry-after')]).toEqual([
      503,
      {
        ...failure('maintenance'),
        error: 'Back after tea.',
        message: 'Back after tea.',
        until: '2026-11-21T12:30:00.000Z',
      },
      '1800',
    ])
    expect(await commitsSeenBy(closed.database)).toEqual(before)
  })

  inspect(called(isClosed), '%s with %s answers an administrator as ever', async (_, way, action) => {
    const { client, params, more } = await prepare(await underMaintenance(), action, way, 'admin')
    expect(outcome(action, await client.call(action, params, more))).toEqual([success(action), ''])
  })

  test('a stranger learns nothing of maintenance', async () => {
    const reply = await (await underMaintenance()).send(...requestOf(syncFiles.actions.manifest, {}))
    expect([reply.status, reply.json['code']]).toEqual([401, 'unauthorized'])
  })

  test('under maintenance a user may still ping, ask about the server, validate and log out', async () => {
    await underMaintenance()
    const { ping, info, capabilities } = syncStatus.actions
    for (const action of [ping, info, capabilities, syncAuth.actions.validate])
      expect((await user.call(action)).status).toBe(200)
    expect((await user.ask(info, {})).maintenance_mode).toBe(true)
    const leaving = await user.another()
    expect((await leaving.call(syncAuth.actions.logout)).status).toBe(200)
    expect((await leaving.call(info)).status).toBe(401)
  })

  test('under maintenance a user may still ask whose session it is, and end it', async () => {
    const client = await clientBy(await underMaintenance(), user, 'a session')
    expect((await client.call(session.actions.session)).status).toBe(200)
    expect((await client.call(sessionLogout.actions.logout)).status).toBe(200)
    expect((await client.call(session.actions.session)).status).toBe(401)
  })

  test('an open end of maintenance is said as null, with some time to wait', async () => {
    const open = await serverOfTest()
    const { call } = await open.account()
    await open.set('#maintenance', { message: '', until: null })
    const reply = await call(syncFiles.actions.manifest)
    expect([reply.status, reply.json]).toEqual([503, failure('maintenance', { message: '', until: null })])
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
    await open.set('#maintenance', undefined)
    expect((await call(syncFiles.actions.manifest)).status).toBe(200)
  })
})

/** The first line of a failure, with what was found and what was expected where that was compared. */
function whatIsWrong(error: unknown): string {
  const { message, actual, expected } = error as { message: string; actual?: unknown; expected?: unknown }
  const compared = expected === undefined ? '' : `: ${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`
  return `${message.split('\n')[0]}${compared}`
}

test.each([...inspections].map(([action, checks]) => [nameOf(action), checks] as const))(
  '%s keeps the rules of every action',
  async (_, checks) => {
    const broken: string[] = []
    for (const { title, inspect: check } of checks) {
      await check().catch((error: unknown) => void broken.push(`${title}: ${whatIsWrong(error)}`))
      await restoreService()
    }
    expect(broken).toEqual([])
  },
)
