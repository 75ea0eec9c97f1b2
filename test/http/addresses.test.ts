import { describe, expect, test } from 'vitest'
import { actions, type AnyAction } from '../../src/contract/contract.ts'
import { accountSettings } from '../../src/contract/account-settings.ts'
import { admin } from '../../src/contract/admin.ts'
import { limits } from '../../src/contract/limits.ts'
import { syncData } from '../../src/contract/sync-data.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { PASSWORD, sessionOf } from '../support/browser.ts'
import { prepare, prepared } from '../support/examples.ts'
import { requestOf, type Sent } from '../support/request.ts'
import { serverOfFile, serverOfTest } from '../support/server.ts'

const server = await serverOfFile()
await server.local.domain.accounts.create({ username: 'ada', password: PASSWORD })

/** The request of an action at its address below the endpoint. */
function requestBelow(action: AnyAction, params: object = {}, more: Omit<Sent, 'query'> = {}): [string, Sent] {
  const [path, { query, ...sent }] = requestOf(action, params, more)
  const { action: name, ...rest } = query as Record<string, unknown>
  return [`${path}/${String(name)}`, { ...sent, query: rest }]
}

const named = actions.map((action) => [`${action.method} ${action.path}/${action.name}`, action] as const)

test.each(named)('%s does what the action does with its name in the query', async (_, action) => {
  const { client, params, more } = await prepare(server, action)
  const reply = await client.send(...requestBelow(action, params, more))
  expect([reply.status, reply.status < 300 || reply.bytes.toString()]).toEqual([action.status ?? 200, true])
})

test('an address below an endpoint takes the same credentials, CSRF token and role', async () => {
  const account = await prepared(server)
  const { cookie, ...token } = (await sessionOf(server, account.id)) as { cookie: string }
  const codeOf = async (action: AnyAction, more: Omit<Sent, 'query'>) => {
    const { status, json } = await server.send(...requestBelow(action, action.example, more))
    return [status, json['code']]
  }
  const { manifest } = syncFiles.actions
  const { update_profile } = accountSettings.actions
  expect(await codeOf(manifest, {})).toEqual([401, 'unauthorized'])
  expect(await codeOf(manifest, { headers: { cookie } })).toEqual([401, 'unauthorized'])
  expect(await codeOf(update_profile, { token: account.token })).toEqual([401, 'unauthorized'])
  expect(await codeOf(update_profile, { headers: { cookie } })).toEqual([403, 'csrf'])
  expect(await codeOf(update_profile, { headers: { cookie, ...token } })).toEqual([200, undefined])
  expect(await codeOf(admin.actions.users, { headers: { cookie, ...token } })).toEqual([403, 'forbidden'])
})

test('calls at both addresses of an action count towards one limit', async () => {
  const limited = await serverOfTest({ limits: true })
  const account = await limited.account()
  const { initial_sync } = syncData.actions
  const left = []
  for (let call = 0; call < limits.sync_initial_sync; call++) {
    const [path, sent] = (call % 2 ? requestBelow : requestOf)(initial_sync, {})
    const { status, headers } = await account.send(path, sent)
    left.push([status, headers.get('ratelimit-remaining')])
  }
  expect(left).toEqual([4, 3, 2, 1, 0].map((remaining) => [200, String(remaining)]))
  for (const [path, sent] of [requestOf(initial_sync, {}), requestBelow(initial_sync)])
    expect((await account.send(path, sent)).json['code']).toBe('rate_limited')
})

test('both addresses of an action are one series of the metrics', async () => {
  const own = await serverOfTest()
  const account = await own.account()
  const { manifest } = syncFiles.actions
  await account.send(...requestOf(manifest, {}))
  await account.send(...requestBelow(manifest))
  const series = 'svc_request_seconds_count{route="/api/sync/files.php",action="manifest",status="200"} 2'
  expect((await own.send('/metrics')).bytes.toString()).toContain(series)
})

describe('an address below an endpoint', () => {
  test('takes HEAD where the action answers bytes', async () => {
    const account = await prepared(server)
    const [path, sent] = requestBelow(syncFiles.actions.download, { path: '/hello.txt' })
    const { status, headers, bytes } = await account.send(path, { ...sent, method: 'HEAD' })
    expect([status, headers.get('content-length'), bytes.length]).toEqual([200, '12', 0])
  })

  test.each([
    ['PUT', '/api/sync/files.php/download', 'GET, HEAD'],
    ['HEAD', '/api/sync/data.php/delta', 'GET'],
    ['OPTIONS', '/api/sync/files.php/upload', 'POST'],
    ['DELETE', '/api/settings.php/profile', 'GET, POST'],
    ['GET', '/api/login.php/login', 'POST'],
  ])('answers 405 to other methods and says which it takes: %s %s', async (method, path, allow) => {
    const { status, headers } = await server.send(path, { method })
    expect([status, headers.get('allow')]).toEqual([405, allow])
  })

  test.each(['GET', 'POST', 'DELETE'])('of an action that is not there answers %s with 400', async (method) => {
    for (const path of ['/api/sync/data.php/nothing', '/api/sync/data.php/Delta', '/login-2fa.php/login']) {
      const { status, json } = await server.send(path, { method })
      expect([status, json['code']]).toEqual([400, 'unknown_action'])
    }
  })

  test('is understood however it is spelt, and nothing else is', async () => {
    expect((await server.send('/api/sync/status.php/p%69ng')).json).toMatchObject({ status: 'ok' })
    for (const path of ['/api/sync/status.php/ping/', '/api/sync/status.php/ping/ping', '/api/sync/status.php/'])
      expect([path, (await server.send(path)).json['code']]).toEqual([path, 'not_found'])
  })

  test('names the action alone: neither query nor body names another', async () => {
    const account = await prepared(server)
    const { mkdir } = syncFiles.actions
    const [path, sent] = requestBelow(mkdir, { path: '/made', action: 'delete' })
    const reply = await account.send(path, { ...sent, query: { action: 'delete' } })
    expect([reply.status, reply.json]).toMatchObject([200, { path: '/made', created: true }])
    const twice = await server.send('/api/sync/status.php/ping?action=info&action=info')
    expect([twice.status, twice.json]).toMatchObject([200, { status: 'ok' }])
  })
})
