import { releasingSchema } from '../../contents/released-contents.ts'
import type { Migration } from './migration.ts'

/** Records contents of deleted files and versions, so that they can be removed early. */
export const releasedContents: Migration = {
  name: '0012-released-contents',
  statements: releasingSchema,
}
