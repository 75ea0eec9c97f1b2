import { expect, test, vi } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { noteReceived, undocumentedAnswers } from '../support/answers.ts'
import { undocumented, type Answer } from '../support/documented.ts'
import { serverOfFile } from '../support/server.ts'

const ping: Answer = {
  method: 'GET',
  url: '/api/sync/status.php?action=ping',
  status: 200,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  body: Buffer.from('{"ok":true,"status":"ok","timestamp":"2026-01-01T00:00:00.000Z"}'),
}
const saying = (body: object, more: Partial<Answer> = {}): Answer => ({
  ...ping,
  body: Buffer.from(JSON.stringify(body)),
  ...more,
})
const failure = (code: string, more: object = {}) => ({ ok: false, success: false, error: 'x', code, ...more })

test.each([
  ['an answer as documented', ping, /^$/],
  ['the same at its other address', { ...ping, url: '/api/sync/status.php/ping' }, /^$/],
  ['a field too many', saying({ ok: true, status: 'ok', timestamp: '', secret: 1 }), /: \/secret is not documented/],
  ['a field of another type', saying({ ok: true, status: 'ok', timestamp: 1 }), /: \/timestamp must be string/],
  ['a field too few', saying({ ok: true, status: 'ok' }), /: \/ .*required/],
  ['a header that is not named', { ...ping, headers: { ...ping.headers, 'x-secret': '1' } }, /: header x-secret/],
  ['a type that is not named', { ...ping, headers: { 'content-type': 'text/html' } }, /: content type text\/html/],
  ['a status that is not named', { ...ping, status: 202 }, /: status 202/],
  ['a documented failure', saying(failure('bad_request'), { status: 400 }), /^$/],
  ['a code that is not named', saying(failure('exists'), { status: 400 }), /: \/code must/],
  ['a code of another status', saying(failure('not_found'), { url: '/api/x.php', status: 400 }), /: status 400/],
  [
    'a missing Retry-After',
    saying(failure('rate_limited'), { url: '/api/sync/files.php/manifest', status: 429 }),
    /: header retry-after is missing \[change the server\]/,
  ],
  [
    'a failure that is not declared',
    saying(failure('exists'), { status: 409 }),
    /`errors` of ping in src\/contract\/sync-status\.ts/,
  ],
  ['a refusal without Allow', saying(failure('method_not_allowed'), { method: 'PUT', status: 405 }), /: header allow/],
])('the check of answers tells what does not stand in the OpenAPI document: %s', (_, answer, expected) => {
  const [first = ''] = undocumented(answer)
  expect(first).toMatch(expected)
  if (first !== '') expect(first).toContain(`${answer.method} ${answer.url} → ${answer.status}: `)
})

const server = await serverOfFile()

test('every answer of a server in this process is compared with the OpenAPI document', async () => {
  const account = await server.account()
  const wrong = [{ name: 'x', type: 'file', modified: '', secret: 1 }]
  const list = vi.spyOn(server.local.domain.files.desktop, 'list').mockResolvedValueOnce(wrong as never)
  await account.call(filesystem.actions.list, { path: '/' })
  list.mockRestore()
  expect(await undocumentedAnswers()).toEqual([
    'GET /api/filesystem.php?action=list&path=%2F → 200: /items/0/secret is not documented [change `result` of list in src/contract/filesystem.ts (of failures: src/contract/failures.ts)]',
  ])
  await account.ask(filesystem.actions.list, { path: '/' })
  expect(await undocumentedAnswers()).toEqual([])
})

test('answers of a server in another process are compared as the test receives them, those of this one only once', async () => {
  const received = (url: string) =>
    noteReceived(
      new URL(`${url}${ping.url}`),
      'GET',
      200,
      new Headers({ 'content-type': 'application/json', 'referrer-policy': 'no-referrer' }),
      Buffer.from('{}'),
    )
  await server.send('/healthz')
  received(server.url)
  expect(await undocumentedAnswers()).toEqual([])
  received('http://127.0.0.1:1')
  expect(await undocumentedAnswers()).toEqual([expect.stringContaining('must have required properties')])
})
