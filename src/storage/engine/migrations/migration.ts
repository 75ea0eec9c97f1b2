import type { RawBuilder } from 'kysely'
import type { SchemaDialect } from '../database.ts'

/** One step of the schema, for every engine. */
export interface Migration {
  name: string
  /**
   * It removes or changes what earlier versions use: it waits until none of them is connected, and none connects afterwards. All
   * others only add, so that servers of the version before go on (expand and contract).
   */
  contracts?: boolean
  statements: (words: SchemaDialect) => RawBuilder<unknown>[]
}
