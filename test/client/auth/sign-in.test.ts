import { describe, expect, onTestFinished, test } from 'vitest'
import { makeApi } from '../../../src/client/api.ts'
import { makeNodeTransport } from '../../../src/client/http/node-transport.ts'
import { assertReachable, signIn } from '../../../src/client/auth/sign-in.ts'
import { json, serve } from '../loopback-server.ts'

const TOKEN = 'a'.repeat(64)
const user = { id: 1, username: 'ada', display_name: 'Ada Lovelace' }
const pending_token = `p_${'b'.repeat(64)}`

/** A server that answers `login` with `first` and takes 123456 as the code. */
async function setUp(first: object, second: object = { ok: true, token: TOKEN, user }) {
  const server = await serve((request, response) => {
    if (request.url?.endsWith('action=login')) return json(response, 200, first)
    const { code } = JSON.parse(server.requests.at(-1)!.body) as { code: string }
    if (code === '123456') json(response, 200, second)
    else json(response, 401, { ok: false, code: 'invalid_code', error: 'The code is wrong or expired.' })
  })
  const api = makeApi({ url: server.url, token: undefined, transport: makeNodeTransport() })
  onTestFinished(() => api.close())
  const trial = (codes: string[], mayRetry = true) => {
    const asked: string[] = []
    const code = async () => {
      const next = codes[asked.length] ?? 'none'
      asked.push(next)
      return next
    }
    const result = signIn(api, {
      username: 'ada',
      password: 'secret',
      device_id: 'device-1',
      device_name: 'Laptop',
      code,
      mayRetry,
    })
    return { asked, result }
  }
  return { server, api, trial }
}

test('a password alone is enough where there is no second factor', async () => {
  const { server, trial } = await setUp({ ok: true, token: TOKEN, user })
  const { asked, result } = trial([])
  expect(await result).toEqual({ token: TOKEN, user })
  expect(asked).toEqual([])
  expect(server.requests).toHaveLength(1)
  expect(JSON.parse(server.requests[0]!.body)).toEqual({
    username: 'ada',
    password: 'secret',
    device_id: 'device-1',
    device_name: 'Laptop',
  })
})

describe('with a second factor', () => {
  const first = { ok: true, requires_2fa: true, pending_token }

  test('the code is asked for after the password was right', async () => {
    const { server, trial } = await setUp(first)
    const { result } = trial(['123456'])
    expect(await result).toEqual({ token: TOKEN, user })
    expect(JSON.parse(server.requests[1]!.body)).toEqual({ pending_token, code: '123456' })
  })

  test('somebody at a terminal may try three times', async () => {
    const { trial } = await setUp(first)
    const lucky = trial(['1', '2', '123456'])
    expect(await lucky.result).toMatchObject({ token: TOKEN })
    const unlucky = trial(['1', '2', '3', '123456'])
    await expect(unlucky.result).rejects.toMatchObject({ code: 'invalid_code' })
    expect(unlucky.asked).toEqual(['1', '2', '3'])
  })

  test('a script tries once', async () => {
    const { trial } = await setUp(first)
    const { asked, result } = trial(['1', '123456'], false)
    await expect(result).rejects.toMatchObject({ code: 'invalid_code' })
    expect(asked).toEqual(['1'])
  })
})

test.each([
  { ok: true },
  { ok: true, token: 'short', user },
  { ok: true, token: TOKEN },
  { ok: true, token: `${TOKEN}\r\n`, user },
])('an answer without a sound token is no sign-in: %j', async (first) => {
  const { trial } = await setUp(first)
  await expect(trial([]).result).rejects.toMatchObject({
    name: 'Unreachable',
    message: expect.stringMatching(/sent no token/),
  })
})

test('a server is greeted before anybody types a password', async () => {
  const answers = ['ok', 'tired']
  const server = await serve((_, response) => json(response, 200, { ok: true, status: answers.shift(), timestamp: '' }))
  const api = makeApi({ url: server.url, token: undefined, transport: makeNodeTransport() })
  onTestFinished(() => api.close())
  await assertReachable(api)
  await expect(assertReachable(api)).rejects.toMatchObject({
    name: 'Unreachable',
    message: expect.stringMatching(/is not an svc server/),
  })
  expect(server.requests.map(({ path }) => path)).toEqual(Array(2).fill('/api/sync/status.php?action=ping'))
})
