import { Type as TypeBox } from 'typebox'
import { expect, test } from 'vitest'
import { Type } from '../../src/contract/schema.ts'

/** Every property of a schema, hidden ones too, and those of the schemas in it. */
const describe = (value: unknown): unknown =>
  typeof value !== 'object' || value === null
    ? value
    : Object.getOwnPropertyNames(value)
        .filter((name) => !(Array.isArray(value) && name === 'length'))
        .sort()
        .map((name) => {
          const { enumerable, value: inner } = Object.getOwnPropertyDescriptor(value, name)!
          return [name, enumerable, describe(inner)]
        })

const samples = (T: typeof Type) => {
  const text = T.String({ description: 'A text.', maxLength: 9 })
  return {
    text,
    simple: [T.Boolean(), T.Integer({ minimum: 1 }), T.Null(), T.Number(), T.Unknown({ description: 'Anything.' })],
    literals: [T.Literal('a'), T.Literal(1), T.Literal(true, { description: 'Yes.' })],
    enumeration: T.Enum(['a', 'b'], { description: 'A letter.' }),
    union: T.Union([text, T.Null()], { description: 'Or nothing.' }),
    array: T.Array(text, { maxItems: 3 }),
    record: T.Record(T.String(), T.Boolean(), { description: 'Switches.' }),
    empty: T.Object({}),
    object: T.Object({ a: text, b: T.Optional(text) }, { additionalProperties: false }),
    allOptional: T.Object({ b: T.Optional(text) }),
    optional: [T.Optional(text), T.Optional(T.Optional(text)), T.Optional(T.Unsafe<'a'>(text))],
    unsafe: [T.Unsafe<'a'>(text), T.Unsafe<'a'>(T.Optional(text))],
  }
}

test('schemas of the contract are those of TypeBox', () => {
  expect(describe(samples(Type))).toEqual(describe(samples(TypeBox)))
})

test('a schema in another one stays as it is', () => {
  const text = Type.String()
  Type.Object({ a: Type.Optional(text), b: Type.Unsafe(text) })
  expect(describe(text)).toEqual(describe(TypeBox.String()))
})
