import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { SECOND } from '../../src/base/clock.ts'
import { actions, type AnyAction } from '../../src/contract/contract.ts'
import { assistant } from '../../src/contract/assistant.ts'
import { rows } from '../../src/contract/rows.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { syncData } from '../../src/contract/sync-data.ts'
import { teamChat } from '../../src/contract/team-chat.ts'
import { RECHECK_TOLERANCE_MS } from '../../src/http/access.ts'
import { updateAccount } from '../../src/storage/accounts/accounts.ts'
import { clientWith, type Account, type Client } from '../support/account.ts'
import { eventsOf, stage } from '../support/assistant.ts'
import { sessionOf } from '../support/browser.ts'
import { channelOf, disable, say } from '../support/chat.ts'
import { runCommand } from '../support/command.ts'
import { bytesOf } from '../support/contents.ts'
import { clientBy, waysOf } from '../support/examples.ts'
import { openRaw, rawHead, readRaw } from '../support/raw.ts'
import { serverOfFile, type TestServer } from '../support/server.ts'
import { tarOf } from '../support/tar.ts'

const server = await serverOfFile()
const MIB = 1 << 20

/** Resolves when the server has let the next request in. */
function letIn({ local }: TestServer): Promise<void> {
  const { accounts } = local.domain
  const { authenticateDevice } = accounts
  const { authenticate } = accounts.sessions
  return new Promise((resolve) => {
    const seen = <T>(caller: T): T => {
      accounts.authenticateDevice = authenticateDevice
      accounts.sessions.authenticate = authenticate
      // Behind the guard, which goes on with what it was answered.
      setImmediate(resolve)
      return caller
    }
    accounts.authenticateDevice = async (...args) => seen(await authenticateDevice(...args))
    accounts.sessions.authenticate = async (...args) => seen(await authenticate(...args))
  })
}

const minted = async (on: TestServer, { id }: Account, ttl: number): Promise<Client> =>
  clientWith(on.url, { token: (await on.local.domain.accounts.mintToken(id, { ttl, name: 'CI' })).token })

/** Ways in which the access of a client ends, and the client. */
const ends: [string, (account: Account) => Promise<{ client: Client; end: () => Promise<unknown> }>][] = [
  [
    'its token was revoked',
    async (account) => ({
      client: await account.another(),
      end: () => server.local.domain.accounts.revokeAllDevices(account.id),
    }),
  ],
  ['its user was disabled', (account) => Promise.resolve({ client: account, end: () => disable(server, account) })],
  [
    'its user was disabled by a command',
    (account) =>
      Promise.resolve({
        client: account,
        async end() {
          if (Object.keys(server.env).length > 0) return disable(server, account)
          expect(await runCommand(server.dataDir, 'user', 'disable', account.username)).toMatchObject({ code: 0 })
        },
      }),
  ],
  [
    'its session was ended',
    async (account) => ({
      client: await clientBy(server, account, 'a session'),
      end: () => server.local.domain.accounts.sessions.endAll(account.id),
    }),
  ],
  [
    'its token expired',
    async (account) => ({
      client: await minted(server, account, 60 * SECOND),
      end: () => Promise.resolve(server.clock.pass(61 * SECOND)),
    }),
  ],
]

describe.each(ends)('a request that waits when %s', (name, begin) => {
  test('is refused at once and told nothing', async () => {
    const [account, other] = [await server.account(), await server.account()]
    const room_id = await channelOf(account, other)
    const { timestamp } = await say(account, room_id, 'hello')
    const { cursor } = await account.everything()
    const { client, end } = await begin(account)
    const feed = name.includes('session') ? rows.actions.delta : syncData.actions.delta
    for (const [action, params] of [
      [feed, { cursor, wait: 55 }],
      [teamChat.actions.poll, { room_id, after: timestamp, wait: 55 }],
    ] as const) {
      const arrived = letIn(server)
      const waiting = client.call(action as AnyAction, params)
      await arrived
      // The first of the two is there while it happens, the second comes after it.
      if (action === feed) await end()
      const reply = await waiting
      expect([action.name, reply.status, reply.json['code']]).toEqual([action.name, 401, 'unauthorized'])
    }
  })
})

test('a message that wakes a request after its token was revoked is not told it', async () => {
  const [account, other] = [await server.account(), await server.account()]
  const room_id = await channelOf(account, other)
  const { timestamp } = await say(other, room_id, 'hello')
  const arrived = letIn(server)
  const waiting = account.call(teamChat.actions.poll, { room_id, after: timestamp, wait: 55 })
  await arrived
  await Promise.all([disable(server, account), say(other, room_id, 'a secret')])
  const reply = await waiting
  expect([reply.status, reply.bytes.includes('a secret')]).toEqual([401, false])
})

const changing = actions.filter(({ auth, method, reads }) => auth !== 'anyone' && method === 'POST' && !reads)

test('no action takes effect whose body arrives after the access of its sender has ended', async () => {
  const outcomes: unknown[] = []
  for (const action of changing) {
    const isAdmin = action.auth !== 'anyone' && action.auth.admin === true
    for (const way of waysOf(action)) {
      const account = await server.account({ role: isAdmin ? 'admin' : 'user' })
      const headers =
        way === 'a session' ? await sessionOf(server, account.id) : { authorization: `Bearer ${account.token}` }
      const query = new URLSearchParams({ action: action.name, path: '/late.txt' })
      const isBytes = action.sends === 'bytes'
      const body = isBytes ? Buffer.alloc(100) : Buffer.from(JSON.stringify(action.example).padEnd(100))
      const type = action.name === 'upload_batch' ? 'application/x-tar' : 'application/octet-stream'
      const raw = await openRaw(server.url)
      const arrived = letIn(server)
      const more = { 'content-type': isBytes ? type : 'application/json', 'content-length': body.length }
      raw.write(rawHead('POST', `${action.path}?${query.toString()}`, { ...headers, ...more, connection: 'close' }))
      raw.write(body.subarray(0, 1))
      await arrived
      await disable(server, account)
      raw.write(body.subarray(1))
      const { status } = readRaw(await raw.answer())
      if (status !== 401) outcomes.push([action.path, action.name, way, status])
    }
  }
  // A form is due before anything else is looked at.
  const formless = outcomes.filter((outcome) => JSON.stringify(outcome).includes('filesystem.php","upload"'))
  expect(outcomes.filter((outcome) => !formless.includes(outcome))).toEqual([])
})

describe('an upload that was under way when its user was disabled', () => {
  /** What the account has when it may sign in again. */
  async function pathsOf(account: Account): Promise<unknown[]> {
    const { q } = server.database.read
    const nodes = await q.selectFrom('nodes').select('name').where('user_id', '=', account.id).execute()
    return nodes.map(({ name }) => name).filter((name) => name !== '')
  }

  test.each([
    ['a small one', 1_000],
    ['a large one', 3 * MIB],
  ])('is refused when the rest of its bytes arrives: %s', async (_, size) => {
    const account = await server.account()
    const bytes = bytesOf(size)
    const raw = await openRaw(server.url)
    const arrived = letIn(server)
    const headers = { authorization: `Bearer ${account.token}`, 'content-length': size, connection: 'close' }
    raw.write(rawHead('POST', `${syncFiles.path}?action=upload&path=/late.bin`, headers))
    raw.write(bytes.subarray(0, size / 2))
    await arrived
    await disable(server, account)
    raw.write(bytes.subarray(size / 2))
    expect(readRaw(await raw.answer()).status).toBe(401)
    expect(await pathsOf(account)).toEqual([])
  })

  test('is refused when its bytes arrived before and its turn to be written came after', async () => {
    const account = await server.account()
    const { files } = server.local.domain
    const { receive } = files
    const received = new Promise<void>((resolve) => {
      files.receive = async (...args) => {
        files.receive = receive
        return receive(...args).finally(resolve)
      }
    })
    let answer: Promise<number> | undefined
    await server.database.write('instance', async (tx) => {
      answer = account.upload('/late.bin', bytesOf(1_000)).then(({ status }) => status)
      await received
      // What comes within one moment has no order that anybody could see.
      await sleep(50)
      await updateAccount(tx, account.id, { disabled_at: server.clock.now() }, server.clock.now())
    })
    expect(await answer).toBe(401)
    expect(await pathsOf(account)).toEqual([])
  })

  test('leaves none of the files of an archive that had not been stored yet', async () => {
    const account = await server.account()
    const archive = tarOf({ name: 'one.txt', content: 'one' }, { name: 'two.txt', content: 'two' })
    const raw = await openRaw(server.url)
    const arrived = letIn(server)
    const headers = { authorization: `Bearer ${account.token}`, 'content-length': archive.length, connection: 'close' }
    const type = { 'content-type': 'application/x-tar' }
    raw.write(rawHead('POST', `${syncFiles.path}?action=upload_batch`, { ...headers, ...type }))
    raw.write(archive.subarray(0, 1_600))
    await arrived
    await disable(server, account)
    raw.write(archive.subarray(1_600))
    expect(readRaw(await raw.answer()).status).toBe(401)
    expect(await pathsOf(account)).toEqual([])
  })
})

type Ending = (on: TestServer, account: Account) => Promise<unknown>

test.each<[string, string, Ending]>([
  ['the user is disabled', 'unauthorized', disable],
  ['their token expired', 'unauthorized', (on) => Promise.resolve(on.clock.pass(61 * SECOND))],
  [
    'maintenance begins',
    'maintenance',
    ({ local }) => local.domain.instance.maintenance.begin({ message: '', until: null }),
  ],
])('an answer of the assistant ends with a refusal, and its tools change nothing, once %s', async (_, code, end) => {
  const { server: own, model, ada } = await stage()
  let goOn = (): void => undefined
  const until = new Promise<void>((resolve) => (goOn = resolve))
  const write = { name: 'write_file', arguments: { path: '/late.txt', content: 'late' } }
  model.will({ pieces: ['A ', 'moment.'], calls: [write], until, late: ['A ', 'secret.'] })
  const { path } = assistant.actions.ask
  const { token } = await own.local.domain.accounts.mintToken(ada.id, { ttl: 60 * SECOND, name: 'CI' })
  const response = await fetch(`${own.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'Write it', stream: true }),
  })
  const reader = response.body!.getReader()
  const first = Buffer.from((await reader.read()).value!)
  await end(own, ada)
  goOn()
  const rest: Buffer[] = [first]
  for (let next = await reader.read(); !next.done; next = await reader.read()) rest.push(Buffer.from(next.value))
  const events = eventsOf({ bytes: Buffer.concat(rest) } as never)
  expect(Buffer.concat(rest).includes('secret')).toBe(false)
  // Not even that a tool was about to be called.
  expect(events.filter(({ event }) => event !== 'delta')).toMatchObject([{ event: 'error', data: { code } }])
  expect(await own.database.read.q.selectFrom('nodes').select('name').where('name', '=', 'late.txt').execute()).toEqual(
    [],
  )
})

test('a download that is under way breaks off when its token is revoked', async () => {
  const account = await server.account()
  const { cursor } = await account.put('/large.bin', Buffer.alloc(64 * MIB))
  const raw = await openRaw(server.url)
  const headers = { authorization: `Bearer ${account.token}`, connection: 'close' }
  raw.write(rawHead('GET', `${syncFiles.path}?action=download&path=/large.bin`, headers))
  await raw.until('content-length')
  raw.socket.pause()
  const arrived = letIn(server)
  const waiting = account.call(syncData.actions.delta, { cursor, wait: 55 })
  await arrived
  await disable(server, account)
  // Both are told in one go.
  expect((await waiting).status).toBe(401)
  raw.socket.resume()
  expect((await raw.answer()).length).toBeLessThan(64 * MIB)
})

test('a download and an answer of the assistant that are refused when they are ready leave no stream and no timer', async () => {
  const { server: own, model, ada } = await stage()
  await ada.put('/large.bin', bytesOf(MIB))
  const { accounts, files } = own.local.domain
  const { authenticateDevice } = accounts
  /** Ends the access of a client between the guard's check and the one before its response. */
  const refuseSecondCheck = () => {
    let checks = 0
    accounts.authenticateDevice = async (...args) => {
      checks += 1
      return checks === 1 ? authenticateDevice(...args) : undefined
    }
  }
  const opened: unknown[] = []
  const { read } = files
  files.read = async (...args) => {
    const content = await read(...args)
    opened.push(content)
    // The check is left out directly after the guard's.
    await sleep(RECHECK_TOLERANCE_MS + 1)
    return content
  }
  refuseSecondCheck()
  expect((await ada.call(syncFiles.actions.download, { path: '/large.bin' })).status).toBe(401)
  expect(opened).toMatchObject([{ destroyed: true }])

  model.will({ pieces: ['Well.'] })
  const begun = vi.spyOn(globalThis, 'setInterval')
  const ended = vi.spyOn(globalThis, 'clearInterval')
  onTestFinished(() => void vi.restoreAllMocks())
  refuseSecondCheck()
  expect((await ada.call(assistant.actions.ask, { message: 'Hello', stream: true })).status).toBe(401)
  const beats = begun.mock.results.filter((_, at) => begun.mock.calls[at]![1] === 15 * SECOND)
  expect(beats.length).toBe(1)
  await expect.poll(() => ended.mock.calls.flat()).toContain(beats[0]!.value)
})
