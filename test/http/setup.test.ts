import { describe, expect, test } from 'vitest'
import { MINUTE } from '../../src/base/clock.ts'
import { openBrowser, PASSWORD } from '../support/browser.ts'
import { serverOfTest, type TestServer } from '../support/server.ts'

const fresh = () => serverOfTest({ administered: false })
const offered = async ({ local }: TestServer) => (await local.domain.accounts.setup.offer())!.token

const complete = (server: TestServer, body: object, headers: Record<string, string> = {}) =>
  openBrowser(server).post('/api/setup.php', { username: 'root', password: PASSWORD, ...body }, headers)

describe('a set-up link', () => {
  test('makes the first administrator, who can sign in, and opens the service', async () => {
    const server = await fresh()
    const token = await offered(server)
    // With the rest of the link it fits into 80 columns.
    expect(token).toMatch(/^[0-9a-f]{32}$/)
    const stored = JSON.stringify(await server.database.read.q.selectFrom('setup_links').selectAll().execute())
    expect(stored).not.toContain(token)
    expect((await openBrowser(server).login('root')).json['code']).toBe('setup_required')
    const reply = await complete(server, { token, username: 'Root', display_name: 'The Boss', role: 'user' })
    const user = { id: expect.any(Number) as number, username: 'root', display_name: 'The Boss', role: 'admin' }
    expect([reply.status, reply.json]).toEqual([200, { ok: true, user }])
    expect((await openBrowser(server).login('root')).json['user']).toEqual(user)
    expect(await server.database.read.q.selectFrom('setup_links').selectAll().execute()).toEqual([])
  })

  test('makes one administrator, however many come with it at the same moment', async () => {
    const server = await fresh()
    const token = await offered(server)
    const replies = await Promise.all(['a', 'b', 'c'].map((username) => complete(server, { token, username })))
    expect(replies.map(({ status }) => String(status)).sort()).toEqual(['200', '410', '410'])
    expect(await server.local.domain.accounts.list()).toHaveLength(1)
    expect((await complete(server, { token, username: 'd' })).json['code']).toBe('gone')
  })

  test('is over after half an hour, and when there is a newer one', async () => {
    const server = await fresh()
    const [first, second] = [await offered(server), await offered(server)]
    expect((await complete(server, { token: first })).status).toBe(404)
    server.clock.pass(30 * MINUTE)
    expect((await complete(server, { token: second })).status).toBe(404)
    expect(await server.local.domain.accounts.list()).toEqual([])
  })

  test('is good for another try after a mistake', async () => {
    const server = await fresh()
    const token = await offered(server)
    await server.local.domain.accounts.create({ username: 'ada', password: PASSWORD })
    const refused = async (body: object) => {
      const { status, json } = await complete(server, { token, ...body })
      return [status, json['code']]
    }
    expect(await refused({ username: 'ada' })).toEqual([409, 'exists'])
    expect(await refused({ username: 'Ünal' })).toEqual([400, 'bad_request'])
    expect(await refused({ password: 'password1' })).toEqual([400, 'bad_request'])
    expect(await refused({ password: 'short' })).toEqual([400, 'bad_request'])
    expect(await refused({ display_name: 'a\nb' })).toEqual([400, 'bad_request'])
    expect(await refused({ token: 5 })).toEqual([400, 'bad_request'])
    expect(await server.local.domain.instance.isSetUp()).toBe(false)
    expect((await complete(server, { token })).status).toBe(200)
  })

  test.each(['', 'x', '0'.repeat(64), `p_${'0'.repeat(64)}`])('is not "%s"', async (token) => {
    const server = await fresh()
    await offered(server)
    const reply = await complete(server, { token })
    expect([reply.status, reply.json['code']]).toEqual([404, 'not_found'])
    expect((await openBrowser(server).get(`/setup?token=${token}`)).status).toBe(404)
    expect(await server.local.domain.accounts.list()).toEqual([])
  })

  test('does not work from a page of another site, nor with a form', async () => {
    const server = await fresh()
    const token = await offered(server)
    expect((await complete(server, { token }, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await complete(server, { token }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await complete(server, { token }, { 'content-type': 'text/plain' })).status).toBe(415)
    expect(await server.local.domain.accounts.list()).toEqual([])
  })

  test('is not offered once there is an administrator', async () => {
    const server = await serverOfTest()
    expect(await server.local.domain.accounts.setup.offer()).toBeUndefined()
    expect((await complete(server, { token: '0'.repeat(64) })).json['code']).toBe('gone')
  })
})

describe('the page of a set-up link', () => {
  test('is a form that needs nothing but itself and runs no other script', async () => {
    const server = await fresh()
    const token = await offered(server)
    const reply = await openBrowser(server).get(`/setup?token=${token}`)
    const page = reply.bytes.toString()
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(reply.headers.get('referrer-policy')).toBe('no-referrer')
    const policy = reply.headers.get('content-security-policy')!
    const nonce = /'nonce-([^']+)'/.exec(policy)![1]!
    expect(policy).toMatch(/^default-src 'none';/)
    expect(policy).not.toMatch(/unsafe|\*/)
    expect([...page.matchAll(/<(?:script|style)([^>]*)>/g)].map(([, attributes]) => attributes)).toEqual([
      ` nonce="${nonce}"`,
      ` nonce="${nonce}"`,
    ])
    expect(page).not.toMatch(/https?:\/\/|\son\w+=|\sstyle=/)
    expect(page).not.toContain(token)
    expect(page).toContain('name="viewport"')
    const again = await openBrowser(server).get(`/setup?token=${token}`)
    expect(again.headers.get('content-security-policy')).not.toBe(policy)
  })

  test('says clearly that it is over', async () => {
    const server = await fresh()
    const token = await offered(server)
    const page = () => openBrowser(server).get(`/setup?token=${token}`)
    server.clock.pass(30 * MINUTE)
    const late = await page()
    expect([late.status, late.bytes.toString()]).toEqual([404, expect.stringContaining('is not valid') as string])
    await complete(server, { token: await offered(server) })
    const done = await page()
    expect([done.status, done.bytes.toString()]).toEqual([410, expect.stringContaining('is set up') as string])
  })

  test.each([
    ['de-DE,de;q=0.9,en;q=0.8', 'de', 'Ersten Administrator anlegen'],
    ['fr, en;q=0.4, de;q=0.6', 'de', 'Ersten Administrator anlegen'],
    ['en-GB,en;q=0.9,de;q=0.8', 'en', 'Create the first administrator'],
    ['fr', 'en', 'Create the first administrator'],
  ])('speaks the language that the browser prefers: %s', async (header, language, heading) => {
    const server = await fresh()
    const path = `/setup?token=${await offered(server)}`
    const page = (await openBrowser(server).get(path, { 'accept-language': header })).bytes.toString()
    expect(page).toContain(`<html lang="${language}">`)
    expect(page).toContain(heading)
  })

  test.each(['', '?token', '?token=a&token=b', '?token[]=a', '?token=%ff', '?token=%00'])(
    'is none for "%s"',
    async (query) => {
      const server = await fresh()
      expect((await openBrowser(server).get(`/setup${query}`)).status).toBe(404)
    },
  )
})
