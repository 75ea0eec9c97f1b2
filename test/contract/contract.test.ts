import type { TObject, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { errorsOf } from '../../src/contract/action-requirements.ts'
import { actions, addressBelow, contract, type AnyAction } from '../../src/contract/contract.ts'
import { badRequest, errors, fault, Fault, isFault, type ErrorCode } from '../../src/contract/errors.ts'
import { limits } from '../../src/contract/limits.ts'
import { openApi } from '../../src/contract/openapi.ts'
import { referenceMarkdown, referencePage } from '../../src/contract/reference.ts'
import { SCHEMA_VERSION } from '../../src/contract/tables.ts'

const addressOf = ({ path, name, byDefault }: AnyAction) => (byDefault ? path : `${path}?action=${name}`)
const nameOf = (action: AnyAction) => `${action.method} ${addressOf(action)}`
const named = actions.map((action) => [nameOf(action), action] as const)

/** A schema in short, for people who compare two versions of it. */
function brief(schema: TSchema): string {
  const {
    const: value,
    anyOf,
    items,
    properties,
    patternProperties,
    type,
    required = [],
    ...rest
  } = schema as Record<string, unknown>
  if (value !== undefined) return JSON.stringify(value)
  if (Array.isArray(anyOf)) return anyOf.map((part) => brief(part as TSchema)).join(' | ')
  if (items) return `${brief(items as TSchema)}[]`
  if (patternProperties) return `{[name]: ${brief(Object.values(patternProperties)[0] as TSchema)}}`
  if (properties) {
    const fields = Object.entries(properties).map(
      ([name, part]) => `${name}${(required as string[]).includes(name) ? '' : '?'}: ${brief(part as TSchema)}`,
    )
    return `{${fields.join(', ')}${rest['additionalProperties'] === true ? ', …' : ''}}`
  }
  const bounds = ['minimum', 'maximum', 'minLength', 'maxLength', 'pattern']
    .filter((key) => key in rest)
    .map((key) => `${key} ${String(rest[key])}`)
  return `${String(type ?? 'any')}${bounds.length > 0 ? ` (${bounds.join(', ')})` : ''}`
}

/** The wire as one text: what a change of it looks like is seen in the difference. */
function wire(): string {
  const parts = actions.map((action) => {
    const auth = action.auth === 'anyone' ? 'anyone' : Object.keys(action.auth).join(' or ')
    const lines = [
      `${nameOf(action)}${action.sends === 'bytes' ? ' (sends bytes)' : ''}`,
      `  for: ${auth}`,
      `  limit: ${action.limit === 'none' ? 'none' : `${limits[action.limit]} a minute`}`,
      ...(action.openIn ? [`  also in: ${action.openIn.join(', ')}`] : []),
      ...Object.entries((action.params as TObject).properties).map(
        ([name, schema]) =>
          `  takes ${name}${((action.params as { required?: string[] }).required ?? []).includes(name) ? '' : '?'}: ${brief(schema as TSchema)}`,
      ),
      `  gives: ${brief(action.result)}`,
      `  refuses: ${errorsOf(action).join(', ')}`,
    ]
    return lines.join('\n')
  })
  const codes = Object.entries(errors).map(([code, [status, text]]) => `${status} ${code}: ${text}`)
  return `${[...parts, codes.join('\n')].join('\n\n')}\n`
}

test('the wire is the one that clients of this version speak', async () => {
  await expect(wire()).toMatchFileSnapshot('wire.golden')
})

test('the schema of the synchronised tables has the number that clients know', () => {
  expect(SCHEMA_VERSION).toBe(7)
})

describe('an action', () => {
  test('is one of a kind, on a path of its endpoint', () => {
    expect(new Set(named.map(([name]) => name)).size).toBe(actions.length)
    for (const { path, actions: own } of Object.values(contract)) {
      expect(path).toMatch(/^(\/api\/[a-z/-]+|\/login-2fa)\.php$/)
      for (const [name, action] of Object.entries<AnyAction>(own))
        expect([action.name, action.path]).toEqual([action.wireName ?? name, path])
    }
  })

  test.each(named)('%s has an example that its declaration allows', (_, { params, example }) => {
    expect(Value.Errors(params, example)).toEqual([])
    expect(Object.keys(example).filter((field) => !(field in (params as TObject).properties))).toEqual([])
  })

  test.each(named)('%s says what it is for in a sentence', (_, { summary }) => {
    expect(summary).toMatch(/^[A-Z].*[.]$/)
  })

  test.each(named)(
    '%s reads only fields that a query can carry, where it reads the query',
    (_, { method, sends, params }) => {
      if (method === 'POST' && sends !== 'bytes') return
      const types = Object.values((params as TObject).properties).map((part) => (part as { type?: string }).type)
      expect(types.filter((type) => !['string', 'integer', 'boolean'].includes(type!))).toEqual([])
    },
  )

  test.each(named)('%s answers an envelope that says it went well', (_, { result, answers }) => {
    const { properties, required } = result as Partial<TObject>
    if (answers === 'bytes' && !properties) return
    const word = properties!['ok'] ? 'ok' : 'success'
    expect(properties![word]).toMatchObject({ const: true })
    expect(required).toContain(word)
  })

  test.each(named)('%s names codes of errors that are in the table, once', (_, action) => {
    expect(action.errors.filter((code) => !(code in errors))).toEqual([])
    expect(new Set(errorsOf(action)).size).toBe(errorsOf(action).length)
    expect(errorsOf(action)).toContain('internal')
  })
})

describe('an error', () => {
  test.each(Object.entries(errors))('%s has a status and a text for people', (code, [status, text]) => {
    expect(code).toMatch(/^[a-z0-9_]+$/)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(text.length).toBeGreaterThan(8)
  })

  test('has the texts that the specification fixes', () => {
    expect([errors.not_found, errors.method_not_allowed, errors.internal]).toEqual([
      [404, 'Nicht gefunden'],
      [405, 'Method not allowed'],
      [500, 'Interner Fehler'],
    ])
  })

  test('knows its kind', () => {
    const refused = badRequest('title', 'is missing')
    expect(refused).toBeInstanceOf(Fault)
    expect([refused.status, refused.code, refused.extra.fields]).toEqual([
      400,
      'bad_request',
      { details: [{ path: 'title', message: 'is missing' }] },
    ])
    expect([
      isFault(refused),
      isFault(refused, 'bad_request'),
      isFault(refused, 'not_found'),
      isFault(new Error('x')),
      isFault(undefined),
    ]).toEqual([true, true, false, false, false])
    expect(fault('busy', { text: 'Later.' }).message).toBe('Later.')
  })
})

describe('the documentation made from it', () => {
  const document = openApi('1.2.3') as {
    openapi: string
    paths: Record<
      string,
      Record<
        string,
        {
          operationId: string
          responses: Record<string, unknown>
          parameters: { name: string; in: string }[]
          requestBody?: unknown
          security: unknown[]
        }
      >
    >
    components: Record<string, Record<string, unknown>>
  }
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))

  test('is OpenAPI that a generator can read', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(actions.length)
    expect(JSON.parse(JSON.stringify(document))).toEqual(document)
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([\w-]+)"/g)]
    expect(references.flatMap(([, kind, name]) => (name! in document.components[kind!]! ? [] : [name]))).toEqual([])
  })

  test('says for each action who may call it, what it takes and how it may end', () => {
    for (const action of actions) {
      const address = action.byDefault ? action.path : addressBelow(action)
      const operation = document.paths[address]![action.method.toLowerCase()]!
      expect(operation.security.length > 0).toBe(action.auth !== 'anyone')
      const inQuery = action.method === 'GET' || action.sends === 'bytes'
      expect(operation.parameters.flatMap((one) => (one.in === 'query' ? one.name : []))).toEqual(
        inQuery ? Object.keys((action.params as TObject).properties) : [],
      )
      expect(operation.requestBody !== undefined).toBe(action.method === 'POST')
      const statuses = new Set(errorsOf(action).map((code: ErrorCode) => String(errors[code][0])))
      const { takesHeaders = [] } = action
      const partial = [
        ...(takesHeaders.includes('range') ? ['206'] : []),
        ...(takesHeaders.includes('ifNoneMatch') ? ['304'] : []),
      ]
      const expected = new Set([String(action.status ?? 200), ...partial, ...statuses])
      expect(new Set(Object.keys(operation.responses))).toEqual(expected)
    }
  })

  test('names every action and every error, as text and as page', () => {
    const [markdown, page] = [referenceMarkdown(), referencePage('1.2.3')]
    for (const [name] of named) expect(markdown).toContain(`### ${name}\n`)
    for (const action of actions) expect(page).toContain(addressOf(action))
    for (const code of Object.keys(errors)) {
      expect(markdown).toContain(`\`${code}\``)
      expect(page).toContain(`<code>${code}</code>`)
    }
  })

  test('is a page in which every link leads somewhere and no text becomes markup', () => {
    const page = referencePage('<b>1</b>')
    const anchors = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
    expect(targets.filter((id) => !anchors.has(id))).toEqual([])
    expect(targets).toHaveLength(actions.length)
    expect(page).not.toContain('<b>1</b>')
  })

  test('shows how to call each from a shell', () => {
    const lines = [...referenceMarkdown().matchAll(/^```sh\n(.*)\n```$/gm)].map(([, line]) => line!)
    expect(lines).toHaveLength(actions.length)
    for (const [index, action] of actions.entries()) {
      expect(lines[index]).toMatch(/^curl -sS /)
      expect(lines[index]!.includes('Bearer $SVC_TOKEN')).toBe(action.auth !== 'anyone' && action.auth.device === true)
      expect(lines[index]).toContain(`"$SVC_URL${addressOf(action)}`)
    }
  })
})
