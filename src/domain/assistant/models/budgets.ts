import { DAY, type Clock } from '../../../base/clock.ts'
import { fault } from '../../../contract/errors.ts'
import { addTokens, tokensUsed } from '../../../storage/assistant/assistant-usage.ts'
import type { Database, Writer } from '../../../storage/engine/database.ts'

/** Answers that may be made for one user at the same moment. */
const AT_ONCE = 2

interface Parts {
  database: Database
  clock: Clock
  /** Tokens a user may use up in a day; 0 for no limit. */
  dailyTokens: () => Promise<number>
}

/** What one user may ask of the models. */
export function makeBudgets({ database, clock, dailyTokens }: Parts) {
  const underway = new Map<number, number>()
  const today = () => Math.floor(clock.now() / DAY)

  return {
    /** Does something that counts as one answer of a user. Faults: `rate_limited`. */
    async within<T>(user: number, part: () => Promise<T>): Promise<T> {
      const count = underway.get(user) ?? 0
      if (count >= AT_ONCE) {
        const text = `The assistant is answering ${AT_ONCE} questions of yours already; wait for one of them.`
        throw fault('rate_limited', { text, retryAfter: 2 })
      }
      underway.set(user, count + 1)
      try {
        const most = await dailyTokens()
        if (most > 0 && (await tokensUsed(database.read, user, today())) >= most) {
          const retryAfter = Math.ceil(((today() + 1) * DAY - clock.now()) / 1_000)
          throw fault('rate_limited', { text: 'Your tokens for today are used up; ask again tomorrow.', retryAfter })
        }
        return await part()
      } finally {
        const left = underway.get(user)! - 1
        if (left === 0) underway.delete(user)
        else underway.set(user, left)
      }
    },

    /** Notes what a user used, one step of a transaction. */
    async use(tx: Writer, user: number, tokens: number): Promise<void> {
      if (tokens > 0) await addTokens(tx, { user, day: today(), tokens })
    },
  }
}

export type Budgets = ReturnType<typeof makeBudgets>
