import { actions, contract, type AnyAction } from './contract.ts'
import { errors, type ErrorCode } from './errors.ts'

// Made from the declarations alone: what is not declared cannot be documented, and what is declared cannot be forgotten.

/** Codes that every action can answer beside its own. */
export function errorsOf(action: AnyAction): ErrorCode[] {
  const general: ErrorCode[] = ['bad_request', 'busy', 'internal']
  if (action.auth !== 'anyone') general.push('unauthorized')
  if (action.auth !== 'anyone' && action.auth.admin) general.push('forbidden')
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
    200: { description: action.summary, content: { [content]: { schema: action.result } } },
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

function parameters(action: AnyAction): unknown[] {
  if (!inQuery(action)) return []
  const required = new Set(action.params.required as string[] | undefined)
  return Object.entries(action.params.properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.has(name),
    schema,
    ...(name in action.example ? { example: (action.example as Record<string, unknown>)[name] } : {}),
  }))
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
  const paths = actions.map((action) => [
    `${action.path}?action=${action.name}`,
    {
      [action.method.toLowerCase()]: {
        operationId: operationId(action),
        tags: [action.path],
        summary: action.summary,
        security: action.auth === 'anyone' ? [] : [{ device: [] }],
        parameters: parameters(action),
        ...requestBody(action),
        responses: responses(action),
      },
    },
  ])
  return {
    openapi: '3.1.0',
    info: { title: 'svc', version, description: 'Actions are chosen by the query parameter `action`.' },
    paths: Object.fromEntries(paths) as object,
    components: {
      securitySchemes: { device: { type: 'http', scheme: 'bearer', description: 'Device token from `login`.' } },
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

/** A name for generated clients: `syncDataDelta`. */
function operationId(action: AnyAction): string {
  const [endpoint] = Object.entries(contract).find(([, { path }]) => path === action.path)!
  const words = action.name.split('_').map((word) => word[0]!.toUpperCase() + word.slice(1))
  return endpoint + words.join('')
}
