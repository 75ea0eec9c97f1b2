import { Compile, type Validator } from 'typebox/compile'
import type { TObject } from 'typebox'
import { isSound } from '../base/text.ts'
import { badRequest, fault } from '../contract/errors.ts'
import { schemaErrors, type SchemaError } from '../contract/schema-errors.ts'

type Values = Record<string, unknown>

const INTEGER = /^\d{1,15}$/

/** Validates the parameters of an action and drops undeclared ones. Fault `bad_request`. */
export interface Checker {
  /** Parameters of a query or form: strings, converted to declared numbers and booleans. Repeated keys are refused. */
  fromTexts(texts: Record<string, unknown>): Values
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

interface Detail {
  path: string
  message: string
}

/** More do not help, and an answer should not be larger than its request. */
const MAX_DETAILS = 32

const TYPES: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

/** What is wrong with each parameter, once each: the constants and types of a choice make one sentence. */
function detailsOf(errors: readonly SchemaError[]): Detail[] {
  const byPath = new Map<string, SchemaError[]>()
  for (const error of errors) {
    const path = error.instancePath.slice(1).replaceAll('/', '.')
    byPath.set(path, [...(byPath.get(path) ?? []), error])
  }
  return [...byPath].flatMap(([path, found]) => detailsAt(path, found)).slice(0, MAX_DETAILS)
}

function detailsAt(path: string, errors: readonly SchemaError[]): Detail[] {
  const missing = errors.flatMap((error) => (error.keyword === 'required' ? error.params.requiredProperties : []))
  if (missing.length > 0)
    return missing.map((name) => ({ path: path ? `${path}.${name}` : name, message: 'is missing' }))
  const texts = errors.flatMap((error) => (error.keyword === 'const' ? [String(error.params.allowedValue)] : []))
  const types = errors.flatMap((error) => (error.keyword === 'type' ? [error.params.type].flat() : []))
  const choices = texts.length > 0 ? [...texts, ...types.filter((type) => type === 'null')] : types
  const message =
    choices.length > 0
      ? `must be ${[...new Set(choices)].map((choice) => TYPES[choice] ?? choice).join(' or ')}`
      : errors[0]!.message
  return [{ path, message }]
}

function validationFault(validator: Validator, values: Values, missingTexts: Map<string, string>): Error {
  const details = detailsOf(schemaErrors(validator, values))
  const isEmpty = ({ path }: { path: string }) => (values[path] ?? '') === ''
  const [first] = details
  const missing = details.find((detail) => missingTexts.has(detail.path) && isEmpty(detail))
  const general = first ? `${first.path || 'The request'} ${first.message}.` : undefined
  const text = missing ? missingTexts.get(missing.path) : general
  return fault('bad_request', { ...(text ? { text } : {}), fields: { details } })
}

/** Builds a checker from the declared parameters. */
export function checkerFor(schema: TObject): Checker {
  let compiled: ReturnType<typeof Compile> | undefined
  const types = new Map(
    Object.entries(schema.properties).map(([name, part]) => [name, (part as { type?: unknown }).type]),
  )

  /** Error texts that the specification prescribes for missing or empty parameters. */
  const missingTexts = new Map(
    Object.entries(schema.properties).flatMap(([name, part]) => {
      const text = (part as { 'x-missing'?: string })['x-missing']
      return text === undefined ? [] : [[name, text] as const]
    }),
  )

  function check(values: Values): Values {
    // As with serializers, a server starts without compiling any.
    const validator = (compiled ??= Compile(schema))
    if (!validator.Check(values)) throw validationFault(validator, values, missingTexts)
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
