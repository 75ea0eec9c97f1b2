// Reads the operations from the API description, so that new ones are attacked automatically.

/** Credentials of a caller. */
export type Way = 'device' | 'session' | 'nobody'

/** Parameters, or properties of a body, by name. */
export type Fields = Record<string, unknown>

/** One operation of the interface. */
export interface Operation {
  id: string
  method: string
  path: string
  /** The last part of the path: the action of an endpoint. */
  action: string
  /** The kind of body that the operation accepts. */
  takes: 'nothing' | 'json' | 'bytes'
  /** Example parameters of the description. */
  parameters: Fields
  /** Example JSON body of the description. */
  body: Fields
  /** Further parameters or properties of the description, each with some value. */
  optional: Fields
  ways: Way[]
  /** Declared statuses. */
  statuses: ReadonlySet<number>
}

interface Schema {
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  const?: unknown
  minimum?: number
}

interface Described {
  operationId: string
  security?: Record<string, unknown>[]
  parameters?: { name: string; in: string; required: boolean; schema: Schema; example?: unknown }[]
  requestBody?: { content: Record<string, { schema: Schema; example?: Fields }> }
  responses: Record<string, unknown>
}

export interface Description {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}

/** A value of a schema without an example. */
function valueOf({ type, properties, items, anyOf, minimum, ...schema }: Schema): unknown {
  if (anyOf) return valueOf(anyOf[0]!)
  if ('const' in schema) return schema.const
  if (type === 'integer' || type === 'number') return Math.max(1, minimum ?? 1)
  if (type === 'boolean') return true
  if (type === 'array') return items ? [valueOf(items)] : []
  if (type === 'object')
    return Object.fromEntries(Object.entries(properties ?? {}).map(([name, part]) => [name, valueOf(part)]))
  return 'example'
}

const waysOf = (security: Described['security'] = []): Way[] => {
  const ways = security.flatMap((one) => Object.keys(one)).filter((way) => way === 'device' || way === 'session')
  return ways.length > 0 ? ways : ['nobody']
}

const fieldsOf = <T>(entries: readonly T[], pair: (entry: T) => [string, unknown]): Fields =>
  Object.fromEntries(entries.map(pair))

function operationOf(path: string, method: string, described: Described): Operation {
  const json = described.requestBody?.content['application/json']
  const properties = Object.entries(json?.schema.properties ?? {})
  const inQuery = (described.parameters ?? []).filter((parameter) => parameter.in === 'query')
  const isShown = (parameter: (typeof inQuery)[number]) => parameter.required || 'example' in parameter
  const body = json?.example ?? {}
  return {
    id: described.operationId,
    method: method.toUpperCase(),
    path,
    action: path.slice(path.lastIndexOf('/') + 1),
    takes: json ? 'json' : described.requestBody ? 'bytes' : 'nothing',
    parameters: fieldsOf(inQuery.filter(isShown), ({ name, schema, example }) => [name, example ?? valueOf(schema)]),
    body,
    optional: {
      ...fieldsOf(
        inQuery.filter((parameter) => !isShown(parameter)),
        ({ name, schema }) => [name, valueOf(schema)],
      ),
      ...fieldsOf(
        properties.filter(([name]) => !(name in body)),
        ([name, schema]) => [name, valueOf(schema)],
      ),
    },
    ways: waysOf(described.security),
    statuses: new Set(Object.keys(described.responses).map(Number)),
  }
}

/** All operations of a description. */
export const operationsOf = ({ paths }: Description): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => operationOf(path, method, described)),
  )
