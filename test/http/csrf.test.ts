import { expect, test } from 'vitest'
import { newUser, signedIn, type Browser } from '../support/browser.ts'
import { serverOfTest, serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const PROFILE = '/api/settings.php?action=profile'

const server = await serverOfFile()
const ada = await signedIn(server, (await newUser(server)).username)
const bob = await signedIn(server, (await newUser(server)).username)

const nobody = (browser: Browser, headers: Record<string, string> = {}) => {
  const { cookie } = browser
  return { cookie: `PHPSESSID=${cookie}`, 'content-type': 'application/json', ...headers }
}

/** Posts without the token a browser would add. */
const bare = (path: string, body: object, headers: Record<string, string> = {}) =>
  server.send(path, { method: 'POST', headers: nobody(ada, headers), body: JSON.stringify(body) })

test('a POST in a session needs its token, in the header or in the body', async () => {
  expect((await bare(PROFILE, { display_name: 'One' }, { 'x-csrf-token': ada.csrf! })).status).toBe(200)
  expect((await bare(PROFILE, { display_name: 'Two', csrf_token: ada.csrf })).status).toBe(200)
  expect((await ada.get(PROFILE)).json['user']).toMatchObject({ display_name: 'Two' })
})

test.each([
  ['none', () => ({}), () => ({})],
  ['an empty one', () => ({ 'x-csrf-token': '' }), () => ({})],
  ['a made-up one', () => ({ 'x-csrf-token': '0'.repeat(64) }), () => ({})],
  ['one cut short', () => ({ 'x-csrf-token': ada.csrf!.slice(0, -1) }), () => ({})],
  ['one in capitals', () => ({ 'x-csrf-token': ada.csrf!.toUpperCase() }), () => ({})],
  ['that of another session', () => ({ 'x-csrf-token': bob.csrf! }), () => ({})],
  ['the session’s own id', () => ({ 'x-csrf-token': ada.cookie! }), () => ({})],
  ['a wrong header beside the right field', () => ({ 'x-csrf-token': bob.csrf! }), () => ({ csrf_token: ada.csrf })],
  ['that of another session as a field', () => ({}), () => ({ csrf_token: bob.csrf })],
  ['a number as a field', () => ({}), () => ({ csrf_token: 1 })],
  ['a list as a field', () => ({}), () => ({ csrf_token: [ada.csrf] })],
] as const)('a POST with %s is refused and changes nothing', async (_, headers, fields) => {
  const before = await commitsSeenBy(server.database)
  for (const path of [PROFILE, '/api/logout.php', '/api/settings.php?action=revoke_session']) {
    const reply = await bare(path, { display_name: 'Mallory', session_id: 1, ...fields() }, headers())
    expect([path, reply.status, reply.json['code']]).toEqual([path, 403, 'csrf'])
  }
  expect(await commitsSeenBy(server.database)).toEqual(before)
})

test('a token in the query is none', async () => {
  expect((await bare(`${PROFILE}&csrf_token=${ada.csrf}`, { display_name: 'Mallory' })).status).toBe(403)
})

test('a token of the session before the login is none after it', async () => {
  const user = await newUser(server)
  const browser = await signedIn(server, user.username)
  const old = browser.csrf!
  await browser.login(user.username)
  expect(browser.csrf).not.toBe(old)
  expect((await browser.post(PROFILE, {}, { 'x-csrf-token': old })).status).toBe(403)
  expect((await browser.post(PROFILE, {})).status).toBe(200)
})

test.each([
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: 'file://' },
  { origin: 'https://127.0.0.1.evil.example' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': '' },
])('with the right token %j is refused all the same, reading and writing', async (headers) => {
  const reply = await ada.post(PROFILE, { display_name: 'Mallory' }, headers)
  expect([reply.status, reply.json['code']]).toEqual([403, 'csrf'])
  expect((await ada.get(PROFILE, headers)).status).toBe(403)
})

test('forms and plain text are no JSON', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const reply = await ada.post(PROFILE, { display_name: 'Mallory' }, { 'content-type': type })
    expect([type, reply.status, reply.json['code']]).toEqual([type, 415, 'unsupported_media_type'])
  }
})

test('no answer lets a page of another site read it', async () => {
  const reply = await server.send('/api/login.php', {
    method: 'OPTIONS',
    headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
  })
  expect(reply.status).toBe(405)
  const names = [...reply.headers.keys(), ...(await ada.get(PROFILE)).headers.keys()]
  expect(names.filter((name) => name.startsWith('access-control'))).toEqual([])
})

test('behind a proxy the public URL is the own origin, with TLS only', async () => {
  const one = await serverOfTest({ flags: { public_url: 'https://cloud.example.org' } })
  const browser = await signedIn(one, (await newUser(one)).username)
  const statusWith = async (origin: string) => (await browser.post(PROFILE, {}, { origin })).status
  expect(await statusWith('https://cloud.example.org')).toBe(200)
  expect(await statusWith(one.url)).toBe(200)
  for (const origin of ['http://cloud.example.org', 'https://cloud.example.org:444', 'https://example.org'])
    expect([origin, await statusWith(origin)]).toEqual([origin, 403])
})
