import { DAY, type Clock } from '../../../base/clock.ts'
import { fault } from '../../../contract/errors.ts'
import { addTokens, tokensUsed } from '../../../storage/assistant/assistant-usage.ts'
import type { Database, Writer } from '../../../storage/engine/database.ts'

/** Concurrent answers of one user. */
const MAX_CONCURRENT = 2

interface Deps {
  database: Database
  clock: Clock
  /** Tokens per user and UTC day; 0 for no limit. */
  dailyTokens: () => Promise<number>
}

/** Limits each user's use of the models. */
export function makeBudgets({ database, clock, dailyTokens }: Deps) {
  const running = new Map<number, number>()
  const today = () => Math.floor(clock.now() / DAY)

  return {
    /** Runs `work` as one answer of a user. Fault `rate_limited`. */
    async within<T>(user: number, work: () => Promise<T>): Promise<T> {
      const count = running.get(user) ?? 0
      if (count >= MAX_CONCURRENT) {
        const text = `The assistant is answering ${MAX_CONCURRENT} questions of yours already; wait for one of them.`
        throw fault('rate_limited', { text, retryAfter: 2 })
      }
      running.set(user, count + 1)
      try {
        const limit = await dailyTokens()
        if (limit > 0 && (await tokensUsed(database.read, user, today())) >= limit) {
          const retryAfter = Math.ceil(((today() + 1) * DAY - clock.now()) / 1_000)
          throw fault('rate_limited', { text: 'Your tokens for today are used up; ask again tomorrow.', retryAfter })
        }
        return await work()
      } finally {
        const left = running.get(user)! - 1
        if (left === 0) running.delete(user)
        else running.set(user, left)
      }
    },

    async use(tx: Writer, user: number, tokens: number): Promise<void> {
      if (tokens > 0) await addTokens(tx, { user, day: today(), tokens })
    },
  }
}

export type Budgets = ReturnType<typeof makeBudgets>
