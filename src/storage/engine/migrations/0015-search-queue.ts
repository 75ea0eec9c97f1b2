import { searchQueueSchema } from '../../search/search-queue.ts'
import type { Migration } from './migration.ts'

/** Rows to be indexed for the search; the index itself is built by the server. */
export const searchQueue: Migration = {
  name: '0015-search-queue',
  statements: searchQueueSchema,
}
