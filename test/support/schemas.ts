import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'

interface Schema {
  properties?: Record<string, Schema>
  additionalProperties?: unknown
}

/** The schema with undeclared fields forbidden in all objects that are not explicitly open. */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const { properties, ...rest } = schema as Schema
  const inner = Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, closed(part)]))
  if (!properties) return inner
  const parts = Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, closed(part)]))
  return { additionalProperties: false, ...inner, properties: parts }
}

/** Deviations of a value from a schema, including undeclared fields. */
export const departures = (schema: TSchema, value: unknown): string[] =>
  Value.Errors(closed(schema) as TSchema, value).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
