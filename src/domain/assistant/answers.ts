import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { confirmationOf, takeConfirmation } from '../../storage/assistant/confirmations.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Budgets } from './models/budgets.ts'
import type { Bounds } from './tools/calls.ts'
import type { Conversations } from './conversations.ts'
import { withinTime } from './within-time.ts'
import type { AssistantModels } from './models/models.ts'
import type { RunBeginning } from './begin-run.ts'
import type { Answered, Paused, MakeAnswer } from './make-answer.ts'
import { readAttachments, type Question } from './attachments.ts'
import type { Emit } from './run.ts'
import type { Account } from './tools/tool.ts'

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
  beginning: RunBeginning
  answer: MakeAnswer
  budgets: Budgets
  bounds: Bounds
}

/** Answering questions. */
export function makeAnswers(parts: Parts) {
  const { database, clock, models, conversations, beginning, answer, budgets, bounds } = parts

  return {
    /**
     * Answers a question. Faults: `bad_request`, `not_found` for a conversation of somebody else, `too_large`,
     * `rate_limited`, `quota_exceeded`, `assistant_unavailable`. Throws the reason of the signal when nobody waits any more.
     */
    async ask(account: Account, question: Question, { signal, emit }: Waiting): Promise<Answered> {
      const { message } = question
      const attachments = readAttachments(question)
      const choice = await models.chosenBy(question.model)
      const known = question.conversation_id ?? undefined
      const past = known === undefined ? undefined : await conversations.recall(account.id, known)
      const tainted = (past?.tainted ?? false) || attachments.tainted || attachments.picture !== undefined
      const before = past?.messages ?? attachments.history
      await conversations.assertRoom(account.id)
      return budgets.within(account.id, () =>
        withinTime(signal, bounds.answerMs, async (end) => {
          const asked = await beginning.compose(choice, message, attachments, end)
          const run = await beginning.begin({ account, choice, before, asked, tainted })
          const dialogue = conversations.dialogue(account.id, known, message)
          return answer(run, { account, choice, dialogue, signal: end, emit })
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
        return withinTime(signal, bounds.answerMs, (end) =>
          answer(anew, { account, choice, dialogue, signal: end, emit }, allow),
        )
      })
    },
  }
}
