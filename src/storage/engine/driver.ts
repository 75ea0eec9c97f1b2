import type { DatabaseConnection, Driver } from 'kysely'

const nothing = () => Promise.resolve()

/** A driver for Kysely that asks everything of one connection. Transactions belong to `Database.write` and `Database.snapshot`. */
export const driverOf = (connection: DatabaseConnection): Driver => ({
  init: nothing,
  acquireConnection: () => Promise.resolve(connection),
  releaseConnection: nothing,
  destroy: nothing,
  beginTransaction: () => Promise.reject(new Error('Use Database.write.')),
  commitTransaction: nothing,
  rollbackTransaction: nothing,
})
