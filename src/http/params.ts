import { Compile, type Validator } from 'typebox/compile'
import type { TObject } from 'typebox'
import { isSound } from '../base/text.ts'
import { badRequest, fault } from '../contract/errors.ts'

type Values = Record<string, unknown>

const INTEGER = /^\d{1,15}$/

/** Checks the values of one action and returns them without what its declaration does not name. */
export interface Checker {
  /** Values of a query or a form, which are texts: numbers and flags are read from them. A key given twice is refused. */
  fromTexts(texts: Record<string, unknown>): Values
  /** Values of a JSON body, taken as they are. */
  fromJson(body: unknown): Values
}

function fromText(name: string, type: unknown, text: unknown): unknown {
  if (Array.isArray(text)) throw badRequest(name, 'is given more than once')
  if (type === 'integer') {
    if (typeof text !== 'string' || !INTEGER.test(text)) throw badRequest(name, 'must be a whole number')
    return Number(text)
  }
  if (type === 'boolean') {
    if (text === 'true' || text === '1') return true
    if (text === 'false' || text === '0') return false
    throw badRequest(name, 'must be true or false')
  }
  return text
}

function refused(validator: Validator, values: Values, textsOfMissing: Map<string, string>): Error {
  const details = validator.Errors(values).flatMap((error) => {
    const params = error.params as { requiredProperties?: string[] }
    const missing = error.keyword === 'required' ? (params.requiredProperties ?? []) : []
    const path = error.instancePath.slice(1).replaceAll('/', '.')
    return missing.length > 0
      ? missing.map((name) => ({ path: path ? `${path}.${name}` : name, message: 'is missing' }))
      : [{ path, message: error.message }]
  })
  const isEmpty = ({ path }: { path: string }) => (values[path] ?? '') === ''
  const [first] = details
  const missing = details.find((detail) => textsOfMissing.has(detail.path) && isEmpty(detail))
  const general = first ? `${first.path || 'The request'} ${first.message}.` : undefined
  const text = missing ? textsOfMissing.get(missing.path) : general
  return fault('bad_request', { ...(text ? { text } : {}), fields: { details } })
}

/** The checks that follow from an action's declared parameters. */
export function checkerFor(schema: TObject): Checker {
  const validator = Compile(schema)
  const types = new Map(
    Object.entries(schema.properties).map(([name, part]) => [name, (part as { type?: unknown }).type]),
  )

  /** What the specification says of parameters that are missing or empty, where it says something. */
  const textsOfMissing = new Map(
    Object.entries(schema.properties).flatMap(([name, part]) => {
      const text = (part as { 'x-missing'?: string })['x-missing']
      return text === undefined ? [] : [[name, text] as const]
    }),
  )

  function check(values: Values): Values {
    if (!validator.Check(values)) throw refused(validator, values, textsOfMissing)
    for (const [name, value] of Object.entries(values)) {
      if (typeof value === 'string' && !isSound(value))
        throw badRequest(name, 'holds a character that cannot be stored')
    }
    return values
  }

  return {
    fromTexts(texts) {
      const values: Values = {}
      for (const [name, type] of types) {
        if (Object.hasOwn(texts, name)) values[name] = fromText(name, type, texts[name])
      }
      return check(values)
    },
    fromJson(body) {
      if (body === undefined) return check({})
      if (typeof body !== 'object' || body === null || Array.isArray(body))
        throw badRequest('', 'the body must be a JSON object')
      const values: Values = {}
      for (const name of types.keys()) if (Object.hasOwn(body, name)) values[name] = (body as Values)[name]
      return check(values)
    },
  }
}
