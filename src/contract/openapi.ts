import { actions, contract, type AnyAction } from './contract.ts'
import { errors, type ErrorCode } from './errors.ts'

// Made from the declarations alone: what is not declared cannot be documented, and what is declared cannot be forgotten.

/** Where an action is called: its path, with its name unless it is reached without one. */
export const addressOf = ({ path, name, byDefault }: AnyAction): string => (byDefault ? path : `${path}?action=${name}`)

/** Whether an action takes browser sessions. */
export const takesSession = ({ auth }: AnyAction): boolean => auth !== 'anyone' && auth.session === true

/** Whether an action takes device tokens. */
export const takesDevice = ({ auth }: AnyAction): boolean => auth !== 'anyone' && auth.device === true

/** Whether an action needs the CSRF token when it is called in a session. */
export const needsToken = (action: AnyAction): boolean => action.method === 'POST' && takesSession(action)

/** Codes that every action can answer beside its own. */
export function errorsOf(action: AnyAction): ErrorCode[] {
  const general: ErrorCode[] = ['bad_request', 'busy', 'internal']
  if (action.auth !== 'anyone') general.push('unauthorized')
  if (action.auth !== 'anyone' && action.auth.admin) general.push('forbidden')
  if (takesSession(action)) general.push('2fa_required')
  if (takesSession(action) || action.sameOrigin) general.push('csrf')
  if (action.limit !== 'none') general.push('rate_limited')
  if (!action.openIn?.includes('maintenance')) general.push('maintenance')
  if (!action.openIn?.includes('setup')) general.push('setup_required')
  if (action.method === 'POST' && action.sends !== 'bytes') general.push('unsupported_media_type', 'too_large')
  if (action.method === 'POST') general.push('disk_full')
  return [...new Set([...general, ...action.errors])].sort((a, b) => errors[a][0] - errors[b][0])
}

const failure = { $ref: '#/components/schemas/Failure' }

function responses(action: AnyAction): Record<string, unknown> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of errorsOf(action)) {
    const [status] = errors[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const isBinary = (action.result as { format?: string }).format === 'binary'
  const content = isBinary ? 'application/octet-stream' : 'application/json'
  return {
    [action.status ?? 200]: {
      description: action.summary,
      content: {
        [content]: { schema: action.result },
        ...(action.streams && { 'text/event-stream': { schema: { type: 'string' } } }),
      },
    },
    ...Object.fromEntries(
      [...byStatus].map(([status, codes]) => [
        status,
        {
          description: codes.map((code) => `\`${code}\`: ${errors[code][1]}`).join('\n\n'),
          content: { 'application/json': { schema: failure } },
        },
      ]),
    ),
  }
}

const inQuery = (action: AnyAction): boolean => action.method === 'GET' || action.sends === 'bytes'

const csrfToken = (action: AnyAction) => ({
  name: 'X-CSRF-Token',
  in: 'header',
  required: !takesDevice(action),
  description: `\`csrf_token\` of the session${takesDevice(action) ? '; none with a device token' : ''}.`,
  schema: { type: 'string' },
})

function parameters(action: AnyAction): unknown[] {
  const headers = needsToken(action) ? [csrfToken(action)] : []
  if (!inQuery(action)) return headers
  const required = new Set(action.params.required as string[] | undefined)
  const query = Object.entries(action.params.properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.has(name),
    schema,
    ...(name in action.example ? { example: (action.example as Record<string, unknown>)[name] } : {}),
  }))
  return [...query, ...headers]
}

/** The credentials of which an action takes any one. */
const securityOf = (action: AnyAction): object[] => [
  ...(takesDevice(action) ? [{ device: [] }] : []),
  ...(takesSession(action) ? [{ session: [] }] : []),
]

function operation(action: AnyAction): object {
  return {
    operationId: operationId(action),
    tags: [action.path],
    summary: action.summary,
    security: securityOf(action),
    parameters: parameters(action),
    ...requestBody(action),
    responses: responses(action),
  }
}

function requestBody(action: AnyAction): object {
  if (action.sends === 'bytes') {
    const bytes = { type: 'string', format: 'binary' }
    const form = { type: 'object', required: ['file'], properties: { file: bytes } }
    const content = { 'application/octet-stream': { schema: bytes }, 'multipart/form-data': { schema: form } }
    return { requestBody: { required: true, content } }
  }
  if (action.method === 'GET') return {}
  return { requestBody: { content: { 'application/json': { schema: action.params, example: action.example } } } }
}

/** The interface as an OpenAPI 3.1 document. */
export function openApi(version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const action of actions) {
    const address = addressOf(action)
    paths[address] = { ...paths[address], [action.method.toLowerCase()]: operation(action) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'svc', version, description: 'Actions are chosen by the query parameter `action`.' },
    paths,
    components: {
      securitySchemes: {
        device: { type: 'http', scheme: 'bearer', description: 'Device token from `login` of `/api/sync/auth.php`.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'PHPSESSID',
          description: 'Set by `/api/login.php`; POSTs also need the header `X-CSRF-Token`.',
        },
      },
      schemas: {
        Failure: {
          type: 'object',
          required: ['ok', 'success', 'error', 'code'],
          properties: {
            ok: { const: false },
            success: { const: false },
            error: { type: 'string', description: 'For people.' },
            code: { enum: Object.keys(errors) },
            details: {
              type: 'array',
              items: { type: 'object', properties: { path: { type: 'string' }, message: { type: 'string' } } },
            },
            request_id: { type: 'string', description: 'With status 500: finds the entry in the log of the server.' },
          },
        },
      },
    },
  }
}

/** A name for generated clients: `syncDataDelta`, or that of the endpoint where the action is all there is: `sessionLogin`. */
export function operationId(action: AnyAction): string {
  const [endpoint, { actions: siblings }] = Object.entries(contract).find(([, { path }]) => path === action.path)!
  const keys = Object.entries(siblings as Record<string, AnyAction>)
  if (keys.length === 1 && action.byDefault) return endpoint
  const [key] = keys.find(([, one]) => one === action)!
  const words = key.split('_').map((word) => word[0]!.toUpperCase() + word.slice(1))
  return endpoint + words.join('')
}
