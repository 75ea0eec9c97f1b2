import { Compile, type Validator } from 'typebox/compile'
import { schemaErrors, type SchemaError } from '../../contract/schema-errors.ts'
import { Seed } from './seed-schema.ts'
import type { Path, Problem } from './problems.ts'

// Converts TypeBox errors to sentences.

/** The subset of JSON Schema that seeds use. */
interface Schema {
  type?: string
  properties?: Record<string, Schema>
  anyOf?: Schema[]
  const?: unknown
  pattern?: string
  maxLength?: number
  minimum?: number
  maximum?: number
  maxItems?: number
  says?: string
}

// Compile on demand: it takes a while, and most servers never see a seed.
let compiled: Validator | undefined

export function schemaProblems(document: unknown): Problem[] {
  const validator = (compiled ??= Compile(Seed))
  if (validator.Check(document)) return []
  const problems: Problem[] = []
  const seen = new Set<string>()
  for (const problem of schemaErrors(validator, document)) {
    // A value of the wrong type needs no second error about its length.
    const messages = seen.has(problem.instancePath) ? [] : messagesOf(problem, document)
    if (messages.length > 0 && problem.keyword !== 'required') seen.add(problem.instancePath)
    const path = pathIn(document, problem.instancePath)
    for (const message of messages) problems.push({ path, message })
  }
  return problems
}

/** The steps of a JSON pointer (RFC 6901). */
const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

/** The value at a pointer. */
const partAt = (whole: unknown, pointer: string): unknown =>
  stepsOf(pointer).reduce((part, step) => (part as Record<string, unknown>)[step], whole)

const schemaAt = (pointer: string): Schema => partAt(Seed, pointer) as Schema

/** Converts a pointer to a path: positions in lists are numbers. */
function pathIn(document: unknown, pointer: string): Path {
  let part = document
  return stepsOf(pointer).map((name) => {
    const step = Array.isArray(part) ? Number(name) : name
    part = (part as Record<string, unknown>)[name]
    return step
  })
}

/** The non-null choice of a nullable value; undefined if there are several. */
function onlyChoice({ says, anyOf = [] }: Schema): Schema | undefined {
  const choices = anyOf.filter(({ type }) => type !== 'null')
  return says === undefined && choices.length === 1 ? choices[0] : undefined
}

/** Whether an error is inside one of several choices: then none fits, which is reported once. */
const isInChoice = (pointer: string): boolean =>
  [...pointer.matchAll(/\/anyOf\/\d+/g)].some(({ index, 0: choice }) => {
    const around = pointer.slice(0, index)
    return onlyChoice(schemaAt(around)) !== schemaAt(`${around}${choice}`)
  })

function messagesOf({ keyword, schemaPath, instancePath, params }: SchemaError, document: unknown): string[] {
  if (isInChoice(schemaPath) || keyword === 'additionalProperties') return []
  const schema = schemaAt(schemaPath)
  if (keyword === 'anyOf') return onlyChoice(schema) ? [] : [schema.says ?? choicesOf(schema)]
  if (keyword === 'required') return params.requiredProperties.map((name) => `has no ${name}`)
  if (keyword === 'boolean') {
    const { properties = {} } = schemaAt(schemaPath.replace(/\/additionalProperties$/, ''))
    return [unknownName(stepsOf(instancePath).at(-1)!, Object.keys(properties))]
  }
  if (keyword === 'const') return [`must be ${String(schema.const)}`]
  if (keyword === 'minLength') return ['must not be empty']
  if (keyword === 'maxLength') return [`may have at most ${schema.maxLength} characters`]
  if (keyword === 'maxItems') return [`may have at most ${schema.maxItems} entries`]
  if (keyword === 'pattern') return [schema.says ?? `must match ${schema.pattern}`]
  const mayNeedQuotes =
    schema.type === 'string' && ['number', 'boolean'].includes(typeof partAt(document, instancePath))
  return [`${schema.says ?? typeOf(schema)}${mayNeedQuotes ? ', in quotes' : ''}`]
}

const choicesOf = ({ anyOf = [] }: Schema): string => {
  const names = anyOf.map((choice) => String(choice.const))
  return anyOf.every((choice) => choice.const !== undefined)
    ? `must be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
    : 'does not fit'
}

const TYPES: Record<string, string> = {
  object: 'must be names with values (a mapping)',
  array: 'must be a list',
  string: 'must be a text',
  boolean: 'must be true or false',
}

function typeOf({ type = '', minimum = -Infinity, maximum = Infinity }: Schema): string {
  const range = Math.abs(minimum) < 1e16 && Math.abs(maximum) < 1e16 ? ` from ${minimum} to ${maximum}` : ''
  return TYPES[type] ?? `must be ${type === 'integer' ? 'a whole number' : 'a number'}${range}`
}

function unknownName(name: string, known: string[]): string {
  const near = known.find((other) => other.startsWith(name.slice(0, 4)) || name.startsWith(other))
  return `is not known here${near !== undefined ? `; did you mean ${near}?` : `: there are ${known.join(', ')}`}`
}
