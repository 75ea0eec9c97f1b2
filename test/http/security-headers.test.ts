import { expect, test } from 'vitest'
import { appPackage } from '../support/app-package.ts'
import { serverOfTest } from '../support/server.ts'

const headersOf = ({ headers }: { headers: Headers }) => Object.fromEntries(headers)

test('every answer says that nothing is to be guessed, framed or run', async () => {
  const server = await serverOfTest()
  const ada = await server.account()
  await ada.put('/page.html', '<script>alert(1)</script>')
  const replies = {
    json: await server.send('/api/sync/status.php?action=ping'),
    refusal: await server.send('/api/sync/status.php?action=info'),
    nothing: await server.send('/nothing/here'),
    method: await server.send('/api/login.php', { method: 'DELETE' }),
    health: await server.send('/healthz'),
    docs: await server.send('/api/docs'),
    openapi: await server.send('/api/openapi.json'),
    setup: await server.send('/setup'),
    download: await ada.download('/page.html'),
    unchanged: await ada.download('/page.html', { 'if-none-match': '*' }),
  }
  for (const [what, reply] of Object.entries(replies)) {
    expect({ what, ...headersOf(reply) }).toMatchObject({
      what,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'content-security-policy': expect.stringMatching(/^default-src 'none'/) as string,
    })
    expect([what, reply.headers.get('strict-transport-security')]).toEqual([what, null])
  }
  for (const what of ['json', 'refusal', 'nothing', 'docs', 'setup'] as const)
    expect(replies[what].headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  // The page keeps its looks, and a file stays a file.
  expect(replies.docs.headers.get('content-security-policy')).toContain("style-src 'unsafe-inline'")
  expect(replies.download.headers.get('content-disposition')).toMatch(/^attachment/)
})

test('browsers are held to TLS where users come with it', async () => {
  const server = await serverOfTest({ flags: { public_url: 'https://cloud.example.org' } })
  for (const path of ['/healthz', '/nothing', '/api/docs'])
    expect((await server.send(path)).headers.get('strict-transport-security')).toBe('max-age=31536000')
})

test('every page and script in which code of others may run blocks WebRTC', async () => {
  const server = await serverOfTest()
  await server.local.domain.desktop.releases.install(appPackage({ 'index.html': '<p>', 'app.js': '' }))
  for (const path of [
    '/apps/clock/index.html',
    '/apps/clock/app.js',
    '/apps/notes/index.html',
    '/sandbox/frame.html',
    '/sandbox/app.html',
  ]) {
    const { status, headers } = await server.send(path)
    expect([path, status, headers.get('content-security-policy')]).toEqual([
      path,
      200,
      expect.stringMatching(/(^|; )webrtc 'block'(;|$)/),
    ])
  }
})
