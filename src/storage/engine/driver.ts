import type { DatabaseConnection, Driver } from 'kysely'

const nothing = () => Promise.resolve()

/** A Kysely driver on one connection. `Database.write` and `Database.snapshot` control transactions. */
export const driverOf = (connection: DatabaseConnection): Driver => ({
  init: nothing,
  acquireConnection: () => Promise.resolve(connection),
  releaseConnection: nothing,
  destroy: nothing,
  beginTransaction: () => Promise.reject(new Error('Use Database.write.')),
  commitTransaction: nothing,
  rollbackTransaction: nothing,
})
