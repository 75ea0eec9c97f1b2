import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import type { Path, Problem } from './problems.ts'

/** What the declarations of a seed use of JSON Schema. */
interface Schema {
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean
  patternProperties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  const?: unknown
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  maxItems?: number
  says?: string
  /** There may be very many of these: looked at one by one only where something is wrong. */
  many?: true
}

/** Problems after which nobody reads on. */
const ENOUGH = 1_000

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value)

/** Compares a value with its declaration; says everything that does not fit, each with its path. */
export function schemaProblems(schema: TSchema, value: unknown): Problem[] {
  const problems: Problem[] = []
  fit(schema as Schema, value, [], problems)
  return problems
}

function fit(schema: Schema, value: unknown, path: Path, problems: Problem[]): void {
  if (problems.length >= ENOUGH) return
  if (schema.anyOf) return fitAny(schema, schema.anyOf, value, path, problems)
  if (schema.type === 'object') return fitObject(schema, value, path, problems)
  if (schema.type === 'array') return fitList(schema, value, path, problems)
  const message = flaw(schema, value)
  if (message !== undefined) problems.push({ path, message })
}

function fitAny(schema: Schema, choices: Schema[], value: unknown, path: Path, problems: Problem[]): void {
  if (choices.some((choice) => fits(choice, value))) return
  // A column that may be empty: the problem is the other choice's.
  const real = choices.filter(({ type }) => type !== 'null')
  if (schema.says === undefined && real.length === 1 && real.length < choices.length)
    return fit(real[0]!, value, path, problems)
  const constants = choices.map((choice) => String(choice.const))
  const named = choices.every((choice) => choice.const !== undefined)
  problems.push({ path, message: schema.says ?? (named ? `must be ${listed(constants)}` : 'does not fit') })
}

function fits(schema: Schema, value: unknown): boolean {
  const problems: Problem[] = []
  fit(schema, value, [], problems)
  return problems.length === 0
}

function fitObject(schema: Schema, value: unknown, path: Path, problems: Problem[]): void {
  if (!isObject(value)) return void problems.push({ path, message: 'must be names with values (a mapping)' })
  const every = schema.patternProperties && Object.values(schema.patternProperties)[0]
  const known = schema.properties ?? {}
  for (const [name, part] of Object.entries(value)) {
    const inner = every ?? (Object.hasOwn(known, name) ? known[name] : undefined)
    if (inner) fit(inner, part, [...path, name], problems)
    else if (schema.additionalProperties === false)
      problems.push({ path: [...path, name], message: unknownName(name, Object.keys(known)) })
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) problems.push({ path, message: `has no ${name}` })
  }
}

function fitList(schema: Schema, value: unknown, path: Path, problems: Problem[]): void {
  if (!Array.isArray(value)) return void problems.push({ path, message: 'must be a list' })
  if (value.length > (schema.maxItems ?? Infinity))
    return void problems.push({ path, message: `may have at most ${schema.maxItems} entries` })
  const items = schema.items ?? {}
  const sound = items.many ? compiled(items) : undefined
  for (const [index, part] of value.entries()) {
    if (!sound?.Check(part)) fit(items, part, [...path, index], problems)
  }
}

const validators = new WeakMap<Schema, Validator>()

function compiled(schema: Schema): Validator {
  let validator = validators.get(schema)
  if (!validator) validators.set(schema, (validator = Compile(schema as TSchema)))
  return validator
}

const length = (text: string): number => (text.length === 0 ? 0 : [...text].length)

function flaw(schema: Schema, value: unknown): string | undefined {
  if (schema.const !== undefined) return value === schema.const ? undefined : `must be ${String(schema.const)}`
  switch (schema.type) {
    case 'string':
      return textFlaw(schema, value)
    case 'boolean':
      return typeof value === 'boolean' ? undefined : (schema.says ?? 'must be true or false')
    case 'integer':
    case 'number':
      return numberFlaw(schema, value)
    case 'null':
      return value === null ? undefined : 'must be empty'
    default:
      return undefined
  }
}

function textFlaw({ says, pattern, minLength = 0, maxLength = Infinity }: Schema, value: unknown): string | undefined {
  if (typeof value !== 'string') {
    const quotes = typeof value === 'number' || typeof value === 'boolean' ? ', in quotes' : ''
    return `${says ?? 'must be a text'}${quotes}`
  }
  if (value.length < minLength) return 'must not be empty'
  if (value.length > maxLength && length(value) > maxLength) return `may have at most ${maxLength} characters`
  if (pattern !== undefined && !patternOf(pattern).test(value)) return says ?? `must match ${pattern}`
  return undefined
}

function numberFlaw({ type, says, minimum, maximum }: Schema, value: unknown): string | undefined {
  const isWhole = type === 'integer'
  const [least, most] = [minimum ?? -Infinity, maximum ?? Infinity]
  const isOne = typeof value === 'number' && (isWhole ? Number.isSafeInteger(value) : Number.isFinite(value))
  if (isOne && value >= least && value <= most) return undefined
  const kind = isWhole ? 'a whole number' : 'a number'
  const range = Math.abs(least) < 1e16 && Math.abs(most) < 1e16 ? ` from ${least} to ${most}` : ''
  return says ?? `must be ${kind}${range}`
}

const patterns = new Map<string, RegExp>()

function patternOf(source: string): RegExp {
  let pattern = patterns.get(source)
  if (!pattern) patterns.set(source, (pattern = new RegExp(source, 'u')))
  return pattern
}

const listed = (names: string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`

const unknownName = (name: string, known: string[]): string => {
  const near = known.find((other) => other.startsWith(name.slice(0, 4)) || name.startsWith(other))
  return `is not known here${near !== undefined ? `; did you mean ${near}?` : `: there are ${known.join(', ')}`}`
}
