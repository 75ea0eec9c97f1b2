import { describeAuth, describeLimit, errorsOf, needsToken, takesDevice, takesSession } from './action-requirements.ts'
import { actions, addressBelow, contract, type AnyAction } from './contract.ts'
import { endpointTags } from './endpoint-tags.ts'
import { errors, type ErrorCode } from './errors.ts'
import { failureSchema } from './failures.ts'
import { requestHeaders, responseHeaders, type ResponseHeader } from './headers.ts'

// Built from the declarations alone, so the document describes exactly the declared actions.

/** The address of an action in the document: its endpoint for default actions, otherwise below it. */
const addressOf = (action: AnyAction): string => (action.byDefault ? action.path : addressBelow(action))

const endpointOf = ({ path }: AnyAction) =>
  Object.entries(contract).find(([, endpoint]) => endpoint.path === path)! as [
    keyof typeof contract,
    { actions: Record<string, AnyAction> },
  ]

const inWords = (text: string): string =>
  text
    .split('_')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('')

/** A name for generated clients: `syncDataDelta`, or the endpoint's name if it has only one action: `sessionLogin`. */
export function operationId(action: AnyAction): string {
  const [endpoint, { actions: siblings }] = endpointOf(action)
  const keys = Object.entries(siblings)
  if (keys.length === 1 && action.byDefault) return endpoint
  return endpoint + inWords(keys.find(([, one]) => one === action)![0])
}

type Responses = Record<string, unknown>

const referTo = (kind: 'headers' | 'responses' | 'schemas', name: string) => ({ $ref: `#/components/${kind}/${name}` })

const headersNamed = (names: readonly ResponseHeader[]) =>
  names.length > 0 && { headers: Object.fromEntries(names.map((name) => [name, referTo('headers', name)])) }

const limitHeaders = ({ limit }: AnyAction): ResponseHeader[] =>
  limit === 'none' ? [] : ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']

/** Failures shared by several actions appear once in the document, named by their content. */
class Failures {
  readonly schemas: Record<string, object> = {}
  readonly responses: Record<string, object> = {}

  of(action: AnyAction): Responses {
    const byStatus = new Map<number, ErrorCode[]>()
    const possible = new Set(errorsOf(action))
    for (const code of (Object.keys(errors) as ErrorCode[]).filter((one) => possible.has(one))) {
      const [status] = errors[code]
      byStatus.set(status, [...(byStatus.get(status) ?? []), code])
    }
    return Object.fromEntries([...byStatus].map(([status, codes]) => [status, this.#response(action, status, codes)]))
  }

  #response(action: AnyAction, status: number, codes: ErrorCode[]): object {
    const isChallenge = status === 401 && action.path.startsWith('/api/sync/')
    const headers: ResponseHeader[] = [
      ...limitHeaders(action),
      ...(isChallenge ? (['WWW-Authenticate'] as const) : []),
      ...(status === 429 || status === 503 ? (['Retry-After'] as const) : []),
    ]
    const owner = action.failureFields ? inWords(operationId(action)) : ''
    const variants = [owner, action.limit === 'none' ? '' : 'Limited', isChallenge ? 'Challenged' : '']
    const name = codes.map(inWords).join('Or') + variants.join('')
    const schemas = codes.map((code) => this.#schema(action, code, owner))
    this.responses[name] ??= {
      description: codes.map((code) => `\`${code}\`: ${errors[code][1]}`).join('\n\n'),
      ...headersNamed(headers),
      content: { 'application/json': { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas } } },
    }
    return referTo('responses', name)
  }

  #schema({ failureFields }: AnyAction, code: ErrorCode, owner: string): object {
    const name = `Failure${inWords(code)}${owner}`
    this.schemas[name] ??= failureSchema(code, failureFields)
    return referTo('schemas', name)
  }
}

/** The media type of a binary response; undefined for JSON. */
function mediaTypeOf({ result }: AnyAction): string | undefined {
  const { format, contentMediaType } = result as { format?: string; contentMediaType?: string }
  return format === 'binary' ? 'application/octet-stream' : contentMediaType
}

const EVENTS = {
  type: 'string',
  description:
    'With `stream`: server-sent events. `delta`, `tool` and `action` as the answer is made, at the end `done` with the answer as in JSON, or `error` with the body of a failure.',
}

function successes(action: AnyAction): Responses {
  const { takesHeaders = [], answersHeaders = [], streams, summary, result } = action
  const headers = [...limitHeaders(action), ...answersHeaders]
  const content = {
    [mediaTypeOf(action) ?? 'application/json']: { schema: result },
    ...(streams && { 'text/event-stream': { schema: EVENTS } }),
  }
  return {
    [action.status ?? 200]: { description: summary, ...headersNamed(headers), content },
    ...(takesHeaders.includes('range') && {
      206: {
        description: 'The range that was asked for.',
        ...headersNamed([...headers, 'Content-Range']),
        content,
      },
    }),
    ...(takesHeaders.includes('ifNoneMatch') && {
      304: { description: 'The client has this content already.', ...headersNamed(headers) },
    }),
  }
}

interface PropertySchema {
  description?: string
}

function parameters({ method, sends, params, example, takesHeaders = [] }: AnyAction): object[] {
  const headers = takesHeaders.map((key) => ({ ...requestHeaders[key], in: 'header', required: false }))
  if (method === 'POST' && sends !== 'bytes') return headers
  const required = new Set(params.required as string[] | undefined)
  const values = example as Record<string, unknown>
  const query = Object.entries(params.properties).map(([name, schema]) => {
    const { description } = schema as PropertySchema
    return {
      name,
      in: 'query',
      required: required.has(name),
      ...(description !== undefined && { description }),
      schema,
      ...(name in values && { example: values[name] }),
    }
  })
  return [...query, ...headers]
}

const BYTES = { type: 'string', format: 'binary' }
const FORM = { type: 'object', required: ['file'], properties: { file: BYTES } }

function requestBody({ method, sends, accepts = [], params, example }: AnyAction): object {
  if (sends === 'bytes') {
    const schemaOf = (type: string) => ({ schema: type === 'multipart/form-data' ? FORM : BYTES })
    const content = Object.fromEntries(accepts.map((type) => [type, schemaOf(type)]))
    return { requestBody: { required: true, content } }
  }
  if (method === 'GET') return {}
  const required = ((params.required as string[] | undefined) ?? []).length > 0
  return { requestBody: { required, content: { 'application/json': { schema: params, example } } } }
}

/** Alternative credentials of an action. */
const securityOf = (action: AnyAction): object[] => [
  ...(takesDevice(action) ? [{ device: [] }] : []),
  ...(takesSession(action) ? [{ session: [], ...(needsToken(action) && { csrf: [] }) }] : []),
]

const descriptionOf = (action: AnyAction): string =>
  [
    `Credentials: ${describeAuth(action)}.`,
    `Rate limit: ${describeLimit(action)}.`,
    `Also answers at \`${action.path}?action=${action.name}\`.`,
  ].join(' ')

const operation = (action: AnyAction, failures: Failures): object => ({
  operationId: operationId(action),
  tags: [endpointTags[endpointOf(action)[0]].name],
  summary: action.summary,
  description: descriptionOf(action),
  security: securityOf(action),
  parameters: parameters(action),
  ...requestBody(action),
  responses: { ...successes(action), ...failures.of(action) },
})

const securitySchemes = {
  device: { type: 'http', scheme: 'bearer', description: 'Device token from `login` of `/api/sync/auth.php`.' },
  session: { type: 'apiKey', in: 'cookie', name: 'PHPSESSID', description: 'Session that `/api/login.php` begins.' },
  csrf: {
    type: 'apiKey',
    in: 'header',
    name: 'X-CSRF-Token',
    description: '`csrf_token` of the session; the body may have it instead, as the field `csrf_token`.',
  },
}

/** The API as an OpenAPI 3.1 document. Without `publicUrl`, addresses are relative to the document. */
export function openApi(version: string, publicUrl = ''): object {
  const failures = new Failures()
  const paths: Record<string, Record<string, object>> = {}
  for (const action of actions) {
    const address = addressOf(action)
    paths[address] = { ...paths[address], [action.method.toLowerCase()]: operation(action, failures) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'svc',
      version,
      description:
        'Each action has an address below its endpoint, and answers there as at the endpoint with its name in the query parameter `action`. What answers GET with bytes answers HEAD too. Other methods are refused with 405 `method_not_allowed` and `Allow`, other names with 400 `unknown_action`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl || '/', description: 'This server.' }],
    tags: Object.values(endpointTags),
    paths,
    components: {
      securitySchemes,
      headers: responseHeaders,
      schemas: failures.schemas,
      responses: failures.responses,
    },
  }
}
