import type { Answer } from '../../contract/define.ts'
import type { syncData } from '../../contract/sync-data.ts'
import type { FeedTable } from '../../contract/tables.ts'
import type { Row } from './row-values.ts'

/** A change of a row as it is pushed. */
export interface Operation {
  table: FeedTable
  operation: 'INSERT' | 'UPDATE' | 'DELETE'
  data: Row
  /** UUID: the server applies the operation once, however often it is sent. */
  op_id: string
  base_version?: number
}

export type Outcome = Answer<typeof syncData.actions.push>['results'][number]
