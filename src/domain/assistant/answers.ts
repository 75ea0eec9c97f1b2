import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { confirmationOf, takeConfirmation } from '../../storage/assistant/confirmations.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Budgets } from './budgets.ts'
import type { Bounds } from './calls.ts'
import type { Conversations } from './conversations.ts'
import { inTime } from './in-time.ts'
import type { AssistantModels } from './models.ts'
import type { Opening } from './opening.ts'
import type { Answered, Paused, Proceed } from './proceed.ts'
import { readBrought, type Question } from './question.ts'
import type { Emit } from './run.ts'
import type { Account } from './tool.ts'

/** Who waits for an answer. */
export interface Waiting {
  /** Aborts when nobody waits any more. */
  signal: AbortSignal
  emit: Emit
}

interface Parts {
  database: Database
  clock: Clock
  models: AssistantModels
  conversations: Conversations
  opening: Opening
  proceed: Proceed
  budgets: Budgets
  bounds: Bounds
}

/** Answering questions. */
export function makeAnswers(parts: Parts) {
  const { database, clock, models, conversations, opening, proceed, budgets, bounds } = parts

  return {
    /**
     * Answers a question. Faults: `bad_request`, `not_found` for a conversation of somebody else, `too_large`,
     * `rate_limited`, `quota_exceeded`, `assistant_unavailable`. Throws the reason of the signal when nobody waits any more.
     */
    async ask(account: Account, question: Question, { signal, emit }: Waiting): Promise<Answered> {
      const { message } = question
      const brought = readBrought(question)
      const choice = await models.chosenBy(question.model)
      const known = question.conversation_id ?? undefined
      const past = known === undefined ? undefined : await conversations.recall(account.id, known)
      const tainted = (past?.tainted ?? false) || brought.tainted || brought.picture !== undefined
      const before = past?.messages ?? brought.history
      await conversations.assertRoom(account.id)
      return budgets.within(account.id, () =>
        inTime(signal, bounds.answerMs, async (end) => {
          const asked = await opening.compose(choice, message, brought, end)
          const run = await opening.begin({ account, choice, before, asked, tainted })
          const dialogue = conversations.dialogue(account.id, known, message)
          return proceed(run, { account, choice, dialogue, signal: end, emit })
        }),
      )
    },

    /**
     * Goes on with an answer that waits for the user's word. Faults: `not_found`, `gone` when it is too late, and those of
     * `ask`.
     */
    async confirm(
      account: Account,
      { confirmation_id: id, allow }: { confirmation_id: string; allow: boolean },
      { signal, emit }: Waiting,
    ): Promise<Answered> {
      const found = await confirmationOf(database.read, account.id, id)
      if (!found) throw fault('not_found')
      if (found.expires_at <= clock.now())
        throw fault('gone', { text: 'This waited for longer than 5 minutes; ask the assistant again.' })
      const { run, chat } = JSON.parse(found.state) as Paused
      const choice = { ...(await models.choice()), chat }
      return budgets.within(account.id, async () => {
        // Of two who agree at the same moment one is the first.
        if (!(await database.write((tx) => takeConfirmation(tx, id)))) throw fault('not_found')
        const dialogue = conversations.dialogue(account.id, found.conversation_id)
        const anew = { ...run, said: '', actions: [], tokens: 0 }
        return inTime(signal, bounds.answerMs, (end) =>
          proceed(anew, { account, choice, dialogue, signal: end, emit }, allow),
        )
      })
    },
  }
}
