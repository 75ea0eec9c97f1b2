import type { Type as TypeBox, TProperties, TSchema } from 'typebox'

// Builders of the schemas of the contract. They make the same objects as those of TypeBox, with its types. Every command of the client
// needs the contract, and loading TypeBox takes a fifth of the processor time of a short one.

type Keywords = Record<string, unknown>
type Builders = Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>

/** Adds what TypeBox knows a schema by, hidden from JSON. */
const marked = (schema: object, mark: string, value: unknown) =>
  Object.defineProperty(schema, mark, { configurable: true, writable: true, enumerable: false, value })

const make = (kind: string, keywords: Keywords, options: Keywords = {}) =>
  marked({ ...keywords, ...options }, '~kind', kind)

/** A copy with its hidden marks, and one more. */
const markedCopy = (schema: object, mark: string, value: unknown) =>
  marked(Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema)), mark, value)

const simple = (kind: string) => (options?: Keywords) => make(kind, { type: kind.toLowerCase() }, options)

export const Type = {
  Boolean: simple('Boolean'),
  Integer: simple('Integer'),
  Null: simple('Null'),
  Number: simple('Number'),
  String: simple('String'),
  Unknown: (options?: Keywords) => make('Unknown', {}, options),
  Literal: (value: string | number | boolean, options?: Keywords) =>
    make('Literal', { type: typeof value, const: value }, options),
  Enum: (values: readonly string[], options?: Keywords) => make('Enum', { enum: [...values] }, options),
  Union: (schemas: readonly TSchema[], options?: Keywords) => make('Union', { anyOf: schemas }, options),
  Array: (items: TSchema, options?: Keywords) => make('Array', { type: 'array', items }, options),
  /** Keys are any text. */
  Record: (_key: TSchema, value: TSchema, options?: Keywords) =>
    make('Record', { type: 'object', patternProperties: { '^.*$': value } }, options),
  Object(properties: TProperties, options?: Keywords) {
    const required = Object.keys(properties).filter((name) => !('~optional' in properties[name]!))
    return make('Object', { type: 'object', ...(required.length > 0 ? { required } : {}), properties }, options)
  },
  Optional: (schema: TSchema) => markedCopy(schema, '~optional', true),
  Unsafe: (schema: TSchema) => markedCopy(schema, '~unsafe', null),
} as unknown as Builders
