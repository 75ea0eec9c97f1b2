import { SECOND, type Clock } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import type { AssistantAnswer } from '../../contract/assistant.ts'
import { fault } from '../../contract/errors.ts'
import { confirmationOf, insertConfirmation, takeConfirmation } from '../../storage/assistant/confirmations.ts'
import type { Database } from '../../storage/engine/database.ts'
import { readAttachments, type Question } from './attachments.ts'
import type { Conversations, Dialogue } from './conversations.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { ContinueRun } from './loop.ts'
import type { Budgets } from './models/budgets.ts'
import type { AssistantModels, Choice } from './models/models.ts'
import type { NewRuns } from './new-run.ts'
import type { Emit, Run } from './run.ts'
import { withTimeLimit } from './time-limit.ts'
import type { Bounds, PendingConfirmation } from './tools/tool-calls.ts'
import type { Account, ToolsFor } from './tools/tool.ts'

/** Lifetime of a confirmation, ms. */
const CONFIRMATION_LIFETIME = 300 * SECOND

export type Answered = Omit<AssistantAnswer, 'ok'>

export interface Waiting {
  /** Aborts when the client is gone. */
  signal: AbortSignal
  emit: Emit
}

/** What stays the same while one answer is made. */
interface AnswerContext extends Waiting {
  account: Account
  choice: Choice
  dialogue: Dialogue
}

/** A run that waits for a confirmation, as stored. */
interface Paused {
  run: Run
  chat: string
}

interface Deps {
  database: Database
  clock: Clock
  models: AssistantModels
  conversations: Conversations
  newRuns: NewRuns
  continueRun: ContinueRun
  budgets: Budgets
  toolsFor: ToolsFor
  ledger: Ledger
  bounds: Bounds
}

/** Runs that end in a stored answer, or in a confirmation that is asked for. */
function makeAnswer({ database, clock, continueRun, budgets, toolsFor, ledger }: Deps) {
  /** Continues the run and counts its tokens if it fails. Returns the confirmation it needs and the change set it wrote. */
  async function proceed(run: Run, context: AnswerContext, allow?: boolean) {
    const tools = await toolsFor({})
    const { account, choice, signal, emit, dialogue } = context
    const openScope = async () => {
      const conversation = await dialogue.id()
      return { conversation, changeSet: ledger.open({ account, conversation }) }
    }
    let opened: ReturnType<typeof openScope> | undefined
    const scope = () => (opened ??= openScope())
    try {
      const pending = await continueRun(run, { account, choice, signal, emit, scope, tools }, allow)
      return { pending, changeSet: (await opened)?.changeSet.id() }
    } catch (error) {
      await database.write({ accounts: [account.id] }, (tx) => budgets.use(tx, account.id, run.tokens))
      throw error
    }
  }

  /** Asks the user for a confirmation. Returns the row that stores the run until then. */
  async function pause(run: Run, { account, choice, dialogue, emit }: AnswerContext, pending: PendingConfirmation) {
    const id = randomHex(16)
    const action = { type: 'confirm' as const, data: { confirmation_id: id, ...pending } }
    run.actions.push(action)
    await emit('action', action)
    const state: Paused = { run, chat: choice.chat }
    return {
      id,
      user_id: account.id,
      conversation_id: await dialogue.id(),
      state: JSON.stringify(state),
      expires_at: clock.now() + CONFIRMATION_LIFETIME,
    }
  }

  /** Continues a run, then stores and returns its answer. `allow` is the user's decision about the call it waits for. */
  async function answer(run: Run, context: AnswerContext, allow?: boolean): Promise<Answered> {
    const { account, choice, dialogue, emit } = context
    const { pending, changeSet } = await proceed(run, context, allow)
    if (run.said === '') {
      run.said = pending ? `May I do this? ${pending.summary}` : 'I have no answer to that.'
      await emit('delta', { text: run.said })
    }
    const confirmation = pending && (await pause(run, context, pending))
    const { actions, tainted, tokens } = run
    const response = run.said.toWellFormed()
    const conversation = await dialogue.answer({ content: response, actions, tainted }, async (tx) => {
      await budgets.use(tx, account.id, tokens)
      if (confirmation) await insertConfirmation(tx, confirmation)
    })
    const usage = { model: choice.chat, iterations: run.rounds, tool_calls: run.calls }
    const changes = changeSet === undefined ? {} : { change_set_id: changeSet }
    return { response, actions, conversation_id: conversation, ...changes, usage }
  }

  return answer
}

export function makeConversationAnswers(deps: Deps) {
  const { database, clock, models, conversations, newRuns, budgets, bounds } = deps
  const answer = makeAnswer(deps)

  return {
    /**
     * Answers a question. Faults: `bad_request`, `not_found` for another user's conversation, `too_large`, `rate_limited`,
     * `quota_exceeded`, `assistant_unavailable`. Throws the reason of the signal when it aborts.
     */
    async ask(account: Account, question: Question, { signal, emit }: Waiting): Promise<Answered> {
      const { message } = question
      const attachments = readAttachments(question)
      const choice = await models.chosenBy(question.model)
      const known = question.conversation_id ?? undefined
      const past = known === undefined ? undefined : await conversations.recall(account.id, known)
      const tainted = (past?.tainted ?? false) || attachments.tainted || attachments.picture !== undefined
      const history = past?.messages ?? attachments.history
      await conversations.assertRoom(account.id)
      return budgets.within(account.id, () =>
        withTimeLimit(signal, bounds.answerMs, async (end) => {
          const asked = await newRuns.compose(choice, message, attachments, end)
          const run = await newRuns.make({ account, choice, history, asked, tainted })
          const dialogue = conversations.dialogue(account.id, known, { content: message, tainted })
          return answer(run, { account, choice, dialogue, signal: end, emit })
        }),
      )
    },

    /** Continues an answer with the user's decision. Faults: `not_found`, `gone` after 5 minutes, and those of `ask`. */
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
        // Of two requests that confirm at the same moment only the first one finds it.
        if (!(await database.write({ accounts: [account.id] }, (tx) => takeConfirmation(tx, id))))
          throw fault('not_found')
        const dialogue = conversations.dialogue(account.id, found.conversation_id)
        const resumed = { ...run, said: '', actions: [], tokens: 0 }
        return withTimeLimit(signal, bounds.answerMs, (end) =>
          answer(resumed, { account, choice, dialogue, signal: end, emit }, allow),
        )
      })
    },
  }
}
