import { readdirSync, readFileSync } from 'node:fs'
import { Compile, type Validator } from 'typebox/compile'
import { actions, addressBelow, type AnyAction } from '../../src/contract/contract.ts'
import { errors, type ErrorCode } from '../../src/contract/errors.ts'
import { failureSchema } from '../../src/contract/failures.ts'
import { openApi } from '../../src/contract/openapi.ts'
import { closed } from './schemas.ts'

/** A response, as far as the OpenAPI document describes it. */
export interface Answer {
  method: string
  /** Path and query. */
  url: string
  status: number
  /** By lower-case name. */
  headers: Record<string, unknown>
  /** Read for JSON only. */
  body: Buffer
}

interface Schema {
  anyOf?: Schema[]
  properties?: { code?: { const?: string } }
}

interface Response {
  headers?: Record<string, { schema: { type: string } }>
  content?: Record<string, { schema: Schema }>
}

interface Operation {
  responses: Record<string, Response>
}

interface Document {
  paths: Record<string, Record<string, Operation>>
}

type Json = Record<string, unknown>

/** The document with all references resolved; there are no recursive ones. */
function resolved(part: unknown, root: Json): unknown {
  if (Array.isArray(part)) return part.map((one) => resolved(one, root))
  if (typeof part !== 'object' || part === null) return part
  const { $ref } = part as { $ref?: string }
  if ($ref !== undefined) {
    const target = $ref.split('/').slice(1)
    return resolved(
      target.reduce<unknown>((at, key) => (at as Json)[key], root),
      root,
    )
  }
  return Object.fromEntries(Object.entries(part).map(([key, one]) => [key, resolved(one, root)]))
}

const source = JSON.parse(JSON.stringify(openApi('0.0.0'))) as Json
const { paths } = resolved(source, source) as Document

/** Headers of all responses, which the document omits. */
const EVERYWHERE =
  /^(x-content-type-options|x-frame-options|content-security-policy|referrer-policy|cross-origin-(opener|resource)-policy|strict-transport-security|cache-control|content-(type|length)|date|connection|keep-alive|transfer-encoding|x-accel-buffering)$/

/** Refusals before the action of a request is known. */
const UNROUTED = [
  'bad_request',
  'unknown_action',
  'not_found',
  'method_not_allowed',
  'too_large',
  'misdirected_request',
  'unsupported_media_type',
  'setup_required',
] as const satisfies ErrorCode[]

const refusals = new Map(
  UNROUTED.map((code) => [code, JSON.parse(JSON.stringify(failureSchema(code))) as Schema] as const),
)

const validators = new Map<Schema, Validator>()

/** Deviations of a value from a schema, including undeclared fields. */
function departuresFrom(schema: Schema, value: unknown): string[] {
  const { code } = (value ?? {}) as { code?: string }
  const variants = schema.anyOf?.filter((one) => one.properties?.code?.const !== undefined)
  if (variants?.length) {
    const variant = variants.find((one) => one.properties!.code!.const === code)
    return variant ? departuresFrom(variant, value) : [`/code ${String(code)} is not documented`]
  }
  let validator = validators.get(schema)
  if (!validator) validators.set(schema, (validator = Compile(closed(schema) as never)))
  if (validator.Check(value)) return []
  return validator.Errors(value).flatMap(({ keyword, instancePath, message }) => {
    // The field itself is reported too.
    if (keyword === 'additionalProperties') return []
    return `${instancePath || '/'} ${keyword === 'boolean' ? 'is not documented' : message}`
  })
}

/** Headers that a response of a status must have, if the document declares them. */
const INDISPENSABLE: Record<number, string> = { 206: 'content-range', 401: 'www-authenticate', 429: 'retry-after' }

function departuresOfHeaders({ headers = {} }: Response, answer: Answer): string[] {
  const named = new Map(Object.entries(headers).map(([name, { schema }]) => [name.toLowerCase(), schema.type]))
  const needed = INDISPENSABLE[answer.status]
  const isMissing = needed !== undefined && named.has(needed) && answer.headers[needed] === undefined
  const wrong = Object.entries(answer.headers).flatMap(([name, value]) => {
    const type = named.get(name)
    if (type === 'integer' && !/^\d+$/.test(String(value))) return [`header ${name} is no integer`]
    return type === undefined && !EVERYWHERE.test(name) ? [`header ${name} is not documented`] : []
  })
  return isMissing ? [...wrong, `header ${needed} is missing`] : wrong
}

function departuresOf(operation: Operation | undefined, answer: Answer): string[] {
  const response = operation?.responses[answer.status]
  if (!response) return [`status ${answer.status} is not documented`]
  const found = departuresOfHeaders(response, answer)
  const type = String(answer.headers['content-type'] ?? '').split(';', 1)[0]!
  if (!response.content) return [...found, ...(answer.body.length > 0 ? ['a body is not documented'] : [])]
  const content = response.content[type]
  if (!content) return [...found, `content type ${type || '(none)'} is not documented`]
  // Truncated responses are streams, which have their own tests.
  if (type !== 'application/json' || answer.method === 'HEAD') return found
  return [...found, ...departuresFrom(content.schema, JSON.parse(answer.body.toString()))]
}

/** Deviations from the refusals that are possible before the action is known. */
function departuresOfRefusal({ method, status, headers, body }: Answer): string[] {
  if (method === 'HEAD') return []
  const value = JSON.parse(body.toString()) as { code?: ErrorCode }
  const code = UNROUTED.find((one) => one === value.code && errors[one][0] === status)
  if (!code) return [`status ${status} with code ${String(value.code)} is not documented`]
  if (code === 'method_not_allowed' && headers['allow'] === undefined) return ['header allow is missing']
  return departuresFrom(refusals.get(code)!, value)
}

const ADDRESS = /^(\/.*\.php)(?:\/([^/]+))?$/

/**
 * The possible actions of a request: a POST without an action in its address may name any of its endpoint in the body.
 */
function askedFor({ method, url }: Answer): { isNamed: boolean; among: AnyAction[] } {
  const { pathname, searchParams } = new URL(url, 'http://svc')
  const [, path, below] = ADDRESS.exec(decodeURIComponent(pathname)) ?? []
  const [name, ...more] = below === undefined ? searchParams.getAll('action') : [below]
  if (more.length > 0) return { isNamed: false, among: [] }
  const verb = method === 'HEAD' ? 'GET' : method
  const takes = (action: AnyAction) => action.method === verb && (method !== 'HEAD' || action.answers === 'bytes')
  const ofEndpoint = actions.filter((action) => action.path === path && takes(action))
  if (name !== undefined) return { isNamed: true, among: ofEndpoint.filter((action) => action.name === name) }
  return { isNamed: false, among: verb === 'POST' ? ofEndpoint : ofEndpoint.filter(({ byDefault }) => byDefault) }
}

const operationOf = (action: AnyAction): Operation | undefined =>
  (paths[addressBelow(action)] ?? paths[action.path])?.[action.method.toLowerCase()]

const CONTRACT = new URL('../../src/contract/', import.meta.url)

/** The file that declares the actions of an endpoint. */
function declaredIn(path: string): string {
  const quoted = `'${path}'`
  const file = readdirSync(CONTRACT).find((name) => readFileSync(new URL(name, CONTRACT), 'utf8').includes(quoted))
  return `src/contract/${file ?? 'contract.ts'}`
}

/** Where to declare what the document lacks. */
function remedy(departure: string, action: AnyAction | undefined): string {
  if (!action) return 'UNROUTED in test/support/documented.ts'
  const file = declaredIn(action.path)
  if (/^header .* missing|^header .* integer/.test(departure)) return 'the server'
  if (departure.startsWith('header'))
    return `\`answersHeaders\` of ${action.name} in ${file} (of failures: src/contract/openapi.ts; of all answers: EVERYWHERE in test/support/documented.ts)`
  if (/^(status|\/code)/.test(departure))
    return `\`errors\` of ${action.name} in ${file} (of many actions: errorsOf in src/contract/action-requirements.ts)`
  return `\`result\` of ${action.name} in ${file} (of failures: src/contract/failures.ts)`
}

/** Deviations of a response from the OpenAPI document, each with the request and the file to change. */
export function undocumented(answer: Answer): string[] {
  const { isNamed, among } = askedFor(answer)
  const attempts: [AnyAction | undefined, () => string[]][] = among.map((action) => [
    action,
    () => departuresOf(operationOf(action), answer),
  ])
  if (!isNamed || among.length === 0) attempts.push([undefined, () => departuresOfRefusal(answer)])
  let first: string[] | undefined
  for (const [action, attempt] of attempts) {
    const found = attempt()
    if (found.length === 0) return []
    first ??= found.map((one) => `${one} [change ${remedy(one, action)}]`)
  }
  return first!.map((one) => `${answer.method} ${answer.url.slice(0, 200)} → ${answer.status}: ${one}`)
}
