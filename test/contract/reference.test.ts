import { describe, expect, test } from 'vitest'
import { accountSettings } from '../../src/contract/account-settings.ts'
import { assistant } from '../../src/contract/assistant.ts'
import { apps } from '../../src/contract/apps.ts'
import { actions, addressBelow, type AnyAction } from '../../src/contract/contract.ts'
import { errors } from '../../src/contract/errors.ts'
import { openApi } from '../../src/contract/openapi.ts'
import { referenceMarkdown, referencePage } from '../../src/contract/reference.ts'
import { session, sessionLogin } from '../../src/contract/session.ts'
import { syncData } from '../../src/contract/sync-data.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'

interface Response {
  description: string
  headers?: Record<string, unknown>
  content?: Record<string, { schema: unknown }>
}

interface Operation {
  operationId: string
  security: Record<string, string[]>[]
  parameters: { name: string; in: string; required: boolean }[]
  requestBody?: { required: boolean; content: Record<string, { example?: unknown }> }
  responses: Record<string, Response | { $ref: string }>
}

const document = openApi('1.2.3') as {
  paths: Record<string, Record<string, Operation>>
  tags: { name: string }[]
  components: { securitySchemes: Record<string, object>; responses: Record<string, Response> }
}
const page = referencePage('1.2.3')
const markdown = referenceMarkdown()

const addressOf = ({ path, name, byDefault }: AnyAction) => (byDefault ? path : `${path}?action=${name}`)
const operationOf = (action: AnyAction): Operation =>
  document.paths[action.byDefault ? action.path : addressBelow(action)]![action.method.toLowerCase()]!

/** What an operation answers with a status. */
function responseOf(action: AnyAction, status: number): Response | undefined {
  const response = operationOf(action).responses[status]
  return response && '$ref' in response ? document.components.responses[response.$ref.split('/').at(-1)!] : response
}

const headersOf = (action: AnyAction, status: number) => Object.keys(responseOf(action, status)?.headers ?? {})

/** The section of an action in the Markdown document. */
function sectionOf(action: AnyAction): string {
  const [, ...after] = markdown.split(`### ${action.method} ${addressOf(action)}\n`)
  expect(after).toHaveLength(1)
  return after[0]!.split('\n#')[0]!
}

const named = actions.map((action) => [`${action.method} ${addressOf(action)}`, action] as const)

test('src/docs/api-reference.md is what the declarations say (npm run docs writes it anew)', async () => {
  await expect(markdown).toMatchFileSnapshot('../../src/docs/api-reference.md')
})

test('the page and the OpenAPI document name every error', () => {
  for (const code of Object.keys(errors)) {
    expect(page).toContain(code)
    expect(JSON.stringify(document)).toContain(code)
  }
  expect(page).not.toMatch(/<script|https?:\/\//)
})

describe.each(named)('%s', (title, action) => {
  test('stands in the page once, under an anchor of its own that the contents lead to', () => {
    const [before, ...after] = page.split(`">${title}</h3>`)
    expect(after).toHaveLength(1)
    const anchor = before!.slice(before!.lastIndexOf('"') + 1)
    expect(page.split(`id="${anchor}"`)).toHaveLength(2)
    expect(page.split(`href="#${anchor}"`)).toHaveLength(2)
  })

  test('is described with its success, its failures and its credentials', () => {
    const { responses, security } = operationOf(action)
    expect(Object.values(responseOf(action, action.status ?? 200)!.content!)[0]!.schema).toBe(action.result)
    for (const code of action.errors) expect(responseOf(action, errors[code][0])!.description).toContain(`\`${code}\``)
    const { device, session } = action.auth === 'anyone' ? {} : action.auth
    const inSession = { session: [], ...(action.method === 'POST' && { csrf: [] }) }
    expect(security).toEqual([...(device ? [{ device: [] }] : []), ...(session ? [inSession] : [])])
    expect(sectionOf(action)).toContain(`Errors: ${Object.keys(responses).find((status) => status >= '400')}`)
  })

  test('has an example that says its credentials and calls it where it is', () => {
    const [curl] = /^curl .*$/m.exec(sectionOf(action))!
    const { device, session } = action.auth === 'anyone' ? {} : action.auth
    expect(curl.includes('$SVC_TOKEN')).toBe(device === true)
    expect(curl.includes('-b svc.cookies')).toBe((session && !device) || action.sameOrigin === true)
    expect(curl.includes('$SVC_CSRF')).toBe(action.method === 'POST' && session === true && !device)
    expect(curl).toContain(
      action.byDefault ? `$SVC_URL${action.path}"` : `$SVC_URL${action.path}?action=${action.name}`,
    )
  })
})

test('operation ids are unique and words', () => {
  const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId))
  expect(ids).toHaveLength(actions.length)
  expect(new Set(ids).size).toBe(actions.length)
  for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9]+$/)
  expect(ids).toEqual(
    expect.arrayContaining(['syncDataDelta', 'sessionLogin', 'session', 'accountSettingsUpdateProfile']),
  )
})

test('two methods of one address stand side by side, and no path holds a query', () => {
  expect(Object.keys(document.paths['/api/apps.php']!)).toEqual(['get', 'post'])
  expect(Object.keys(document.paths['/api/settings.php/profile']!)).toEqual(['get', 'post'])
  expect(document.paths['/api/apps.php/list']).toBeUndefined()
  expect(Object.keys(document.paths).filter((path) => !/^[a-z0-9/._-]+$/.test(path))).toEqual([])
})

test('a session is a cookie, and its POSTs carry the CSRF token', () => {
  expect(document.components.securitySchemes).toMatchObject({
    device: { type: 'http', scheme: 'bearer' },
    session: { type: 'apiKey', in: 'cookie', name: 'PHPSESSID' },
    csrf: { type: 'apiKey', in: 'header', name: 'X-CSRF-Token' },
  })
  for (const action of [accountSettings.actions.change_password, session.actions.session, sessionLogin.actions.login])
    expect(responseOf(action, 403)!.description).toContain('`csrf`')
  expect(responseOf(syncData.actions.push, 403)).toBeUndefined()
})

test('the headers, ranges and media types of each action are described', () => {
  const { manifest, download, upload, upload_batch, download_batch } = syncFiles.actions
  const limited = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']
  expect(headersOf(manifest, 304)).toEqual([...limited, 'ETag'])
  expect(headersOf(download, 206)).toEqual(expect.arrayContaining(['Content-Range', 'X-File-SHA256']))
  expect(headersOf(download, 401)).toEqual([...limited, 'WWW-Authenticate'])
  expect(headersOf(upload, 429)).toEqual([...limited, 'Retry-After'])
  expect(headersOf(sessionLogin.actions.login, 200)).toEqual([...limited, 'Set-Cookie'])
  expect(headersOf(sessionLogin.actions.login, 429)).toEqual([...limited, 'Retry-After'])
  expect(operationOf(download).parameters.map(({ name }) => name)).toEqual([
    'path',
    'If-None-Match',
    'Range',
    'If-Range',
  ])
  const bodyOf = (action: AnyAction) => Object.keys(operationOf(action).requestBody!.content)
  expect(bodyOf(upload)).toEqual(['application/octet-stream', 'multipart/form-data'])
  expect(bodyOf(upload_batch)).toEqual(['application/x-tar'])
  expect(Object.keys(responseOf(download_batch, 200)!.content!)).toEqual(['application/x-tar'])
  expect(Object.keys(responseOf(assistant.actions.ask, 200)!.content!)).toEqual([
    'application/json',
    'text/event-stream',
  ])
  const refused = responseOf(upload_batch, 413)!.content!['application/json']!.schema
  expect(refused).toMatchObject({ $ref: '#/components/schemas/FailureTooLargeSyncFilesUploadBatch' })
})

test('credentials are said in words', () => {
  expect(sectionOf(apps.actions.create)).toContain(
    'Credentials: device token or session with `X-CSRF-Token`, administrators only.',
  )
  expect(sectionOf(accountSettings.actions.profile)).toContain('Credentials: session.')
  expect(sectionOf(sessionLogin.actions.login)).toContain('Credentials: none, but not from pages of other sites.')
  expect(sectionOf(syncData.actions.delta)).toContain('Credentials: device token.')
})
