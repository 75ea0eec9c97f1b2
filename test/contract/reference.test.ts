import { describe, expect, test } from 'vitest'
import { accountSettings } from '../../src/contract/account-settings.ts'
import { apps } from '../../src/contract/apps.ts'
import { actions, type AnyAction } from '../../src/contract/contract.ts'
import { desktopComponents } from '../../src/contract/desktop-components.ts'
import { errors } from '../../src/contract/errors.ts'
import { openApi } from '../../src/contract/openapi.ts'
import { referenceMarkdown, referencePage } from '../../src/contract/reference.ts'
import { session, sessionLogin } from '../../src/contract/session.ts'
import { syncData } from '../../src/contract/sync-data.ts'

interface Operation {
  operationId: string
  security: Record<string, string[]>[]
  parameters: { name: string; in: string; required: boolean }[]
  requestBody?: { content: Record<string, { example?: unknown }> }
  responses: Record<string, { description: string; content: Record<string, { schema: unknown }> }>
}

const document = openApi('1.2.3') as {
  paths: Record<string, Record<string, Operation>>
  components: { securitySchemes: Record<string, object> }
}
const page = referencePage('1.2.3')
const markdown = referenceMarkdown()

const addressOf = ({ path, name, byDefault }: AnyAction) => (byDefault ? path : `${path}?action=${name}`)
const operationOf = (action: AnyAction): Operation => document.paths[addressOf(action)]![action.method.toLowerCase()]!
const headersOf = (action: AnyAction) => operationOf(action).parameters.filter((one) => one.in === 'header')

/** The section of an action in the Markdown document. */
function sectionOf(action: AnyAction): string {
  const [, ...after] = markdown.split(`### ${action.method} ${addressOf(action)}\n`)
  expect(after).toHaveLength(1)
  return after[0]!.split('\n#')[0]!
}

const named = actions.map((action) => [`${action.method} ${addressOf(action)}`, action] as const)

test('src/API.md is what the declarations say (npm run docs writes it anew)', async () => {
  await expect(markdown).toMatchFileSnapshot('../../src/API.md')
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
    const success = responses[action.status ?? 200]!
    expect(Object.values(success.content)[0]!.schema).toBe(action.result)
    expect(Object.keys(responses).filter((status) => status < '300')).toEqual([String(action.status ?? 200)])
    for (const code of action.errors) expect(responses[errors[code][0]]!.description).toContain(`\`${code}\``)
    const { device, session } = action.auth === 'anyone' ? {} : action.auth
    expect(security).toEqual([...(device ? [{ device: [] }] : []), ...(session ? [{ session: [] }] : [])])
    expect(sectionOf(action)).toContain(`Errors: ${Object.keys(responses).at(1)}`)
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

test('two methods of one address stand side by side', () => {
  expect(Object.keys(document.paths['/api/apps.php']!)).toEqual(['get', 'post'])
  expect(Object.keys(document.paths['/api/settings.php?action=profile']!)).toEqual(['get', 'post'])
  expect(document.paths['/api/apps.php?action=list']).toBeUndefined()
})

test('a session is a cookie, and its POSTs carry the CSRF token', () => {
  expect(document.components.securitySchemes).toMatchObject({
    device: { type: 'http', scheme: 'bearer' },
    session: { type: 'apiKey', in: 'cookie', name: 'PHPSESSID' },
  })
  const token = (required: boolean) => [expect.objectContaining({ name: 'X-CSRF-Token', required }) as unknown]
  expect(headersOf(accountSettings.actions.change_password)).toEqual(token(true))
  expect(headersOf(desktopComponents.actions.save)).toEqual(token(false))
  expect(headersOf(accountSettings.actions.profile)).toEqual([])
  expect(headersOf(syncData.actions.push)).toEqual([])
  expect(headersOf(sessionLogin.actions.login)).toEqual([])
  for (const action of [accountSettings.actions.change_password, session.actions.session, sessionLogin.actions.login])
    expect(operationOf(action).responses[403]!.description).toContain('`csrf`')
  expect(operationOf(syncData.actions.push).responses[403]).toBeUndefined()
})

test('credentials are said in words', () => {
  expect(sectionOf(apps.actions.create)).toContain(
    'Credentials: device token or session with `X-CSRF-Token`, administrators only.',
  )
  expect(sectionOf(accountSettings.actions.profile)).toContain('Credentials: session.')
  expect(sectionOf(sessionLogin.actions.login)).toContain('Credentials: none, but not from pages of other sites.')
  expect(sectionOf(syncData.actions.delta)).toContain('Credentials: device token.')
})
