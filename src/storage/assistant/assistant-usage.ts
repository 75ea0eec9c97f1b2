import { sql } from 'kysely'
import { first, prepared, type Reader, type Writer } from '../engine/database.ts'

const usedQuery = prepared<{ user: number; day: number }, { tokens: number }>(({ q, p }) =>
  q.selectFrom('assistant_usage').select('tokens').where('user_id', '=', p.user).where('day', '=', p.day),
)

/** Tokens that an account used on a day, counted in days since 1970-01-01 UTC. */
export const tokensUsed = async (on: Reader, user: number, day: number): Promise<number> =>
  Number((await first(usedQuery(on, { user, day })))?.tokens ?? 0)

const addQuery = prepared<{ user: number; day: number; tokens: number }, never>(({ q, p }) =>
  q
    .insertInto('assistant_usage')
    .values({ user_id: p.user, day: p.day, tokens: p.tokens })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'day']).doUpdateSet({ tokens: sql`assistant_usage.tokens + excluded.tokens` }),
    ),
)

export async function addTokens(tx: Writer, used: { user: number; day: number; tokens: number }): Promise<void> {
  await addQuery(tx, used)
}
