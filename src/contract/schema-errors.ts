import type { Validator } from 'typebox/compile'
import { Settings } from 'typebox/system'

/** An error of a value against a JSON Schema, as TypeBox reports it. */
export type SchemaError = ReturnType<Validator['Errors']>[number]

/** The library ends at 8 by default, and a choice of some texts has one for each of them. */
const MAX_ERRORS = 1_000

/** What is wrong with a value, at most 1,000 errors. */
export function schemaErrors(validator: Validator, value: unknown): SchemaError[] {
  const { maxErrors } = Settings.Get()
  Settings.Set({ maxErrors: MAX_ERRORS })
  try {
    return validator.Errors(value)
  } finally {
    Settings.Set({ maxErrors })
  }
}
