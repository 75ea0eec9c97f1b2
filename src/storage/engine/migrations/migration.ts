import type { RawBuilder } from 'kysely'
import type { SchemaDialect } from '../database.ts'

/** One step of the schema, for every engine. */
export interface Migration {
  name: string
  statements: (words: SchemaDialect) => RawBuilder<unknown>[]
}
