import { first, prepared, type Reader, type Writer } from '../engine/database.ts'

// The former user: the author of messages that outlive their authors. It has a row of `users`, which every message
// needs, but no counters, files, tokens or rooms. Nobody can sign in as it, and no list contains it.

/** Its user name and display name. No account can have it: user names allow neither capitals nor spaces. */
export const FORMER_USER = 'Former user'

/** Dark enough for white initials, like the other avatar colours. */
const COLOR = '#5f6368'

const idQuery = prepared<{ username: string }, { id: number }>(({ q, p }) =>
  q.selectFrom('users').select('id').where('username', '=', p.username),
)

const idOf = async (on: Reader): Promise<number | undefined> =>
  (await first(idQuery(on, { username: FORMER_USER })))?.id

/** The ID of the former user, created with the first messages that are kept. */
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
