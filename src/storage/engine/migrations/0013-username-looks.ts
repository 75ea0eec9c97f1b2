import { usernameLookIndex } from '../../accounts/username-look.ts'
import type { Migration } from './migration.ts'

/** An index to find similar user names. */
export const usernameLooks: Migration = {
  name: '0013-username-looks',
  statements: () => [usernameLookIndex],
}
