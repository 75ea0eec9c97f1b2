import { releasingSchema } from '../../contents/released-contents.ts'
import type { Migration } from './migration.ts'

/** What files and versions let go of is noted, so that it can be removed before its day is over. */
export const releasedContents: Migration = {
  name: '0012-released-contents',
  statements: releasingSchema,
}
