import { sql } from 'kysely'
import type { Reader } from '../engine/database.ts'

/** Easily confused characters of user names; separators are ignored. */
const CONFUSABLES = { '.': '', _: '', '-': '', 0: 'o', 1: 'i', l: 'i', 5: 's' }

/** The normalised look of a user name (ASCII, lower case). An index stores it: a change needs a migration. */
const skeleton = sql<string>`${sql.raw(
  Object.entries(CONFUSABLES).reduce((name, [from, to]) => `replace(${name}, '${from}', '${to}')`, 'username'),
)}`

export const usernameLookIndex = sql`create index users_by_look on users ((${skeleton}))`

/** Whether an account other than `id` has a user name that looks like this one. */
export async function hasUsernameLike(on: Reader, id: number, name: string): Promise<boolean> {
  const query = on.q.selectFrom('users').select('id').where('id', '<>', id).where(skeleton, '=', name)
  return (await query.limit(1).execute()).length > 0
}
