import { first, prepared, type Reader, type Writer } from '../engine/database.ts'

// The former user: the author of messages that stay when their authors are removed. It has a row of `users`, because every
// message refers to one, and neither counters nor files, tokens or rooms. Nobody signs in with it, and no list shows it.

/** Its user name and display name. The rule for user names allows neither capitals nor spaces, so nobody else is called so. */
export const FORMER_USER = 'Former user'

/** Like the colours of other pictures, dark enough for white initials. */
const COLOR = '#5f6368'

const idQuery = prepared<{ username: string }, { id: number }>(({ q, p }) =>
  q.selectFrom('users').select('id').where('username', '=', p.username),
)

const idOf = async (on: Reader): Promise<number | undefined> =>
  (await first(idQuery(on, { username: FORMER_USER })))?.id

/** The id of the former user, who is made when the first messages stay. */
export async function formerUser(tx: Writer, now: number): Promise<number> {
  const known = await idOf(tx)
  if (known !== undefined) return known
  const account = { username: FORMER_USER, display_name: FORMER_USER, avatar_color: COLOR, role: 'user' as const }
  await tx.q
    .insertInto('users')
    // No password has this hash.
    .values({
      ...account,
      password_hash: '',
      quota_bytes: null,
      disabled_at: now,
      last_login_at: null,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.column('username').doNothing())
    .execute()
  return (await idOf(tx))!
}
