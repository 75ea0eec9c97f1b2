import type { Clock } from '../../base/clock.ts'
import type { TableName } from '../../contract/tables.ts'
import type { Database } from '../../storage/engine/database.ts'
import { rowsOf } from './bulk-rows.ts'
import { makeFeed } from './feed.ts'
import { makeFeedWaiters } from './feed-waiters.ts'
import { makeTakeOver } from './take-over.ts'
import { makePush } from './push.ts'

export { insertRowsIn, rowsOf, rowVersion, updateRowIn, type WholeRow } from './bulk-rows.ts'
export { ownValues, rowIn, undoableRows, type RowChange } from './undoable-rows.ts'
export { refuse as refuseRow } from './row-checks.ts'
export { shapes } from './table-shapes.ts'

interface Parts {
  database: Database
  clock: Clock
  /** The installation's epoch, which changes with every restore. */
  epoch: () => string
  checkIntervalMs?: number | undefined
}

/** Rows and the change feed of accounts. */
export function makeSync({ database, clock, epoch, checkIntervalMs }: Parts) {
  const news = makeFeedWaiters({ database, checkIntervalMs })
  const takeOver = makeTakeOver({ database, clock })
  return {
    ...makeFeed({ database, news, takeOver, epoch }),
    ...makePush({ database, clock }),
    /** All rows of an account in one table in API format, by ID. */
    rows: (user: number, table: TableName) => rowsOf(database.read, user, table),
    /** Ends long polls. */
    close: news.close,
  }
}

export type Sync = ReturnType<typeof makeSync>
