import { SECOND, type Clock } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import type { AssistantAnswer } from '../../contract/assistant.ts'
import { insertConfirmation } from '../../storage/assistant/confirmations.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Budgets } from './models/budgets.ts'
import type { Pending } from './tools/calls.ts'
import type { Dialogue } from './conversations.ts'
import type { Choice } from './models/models.ts'
import type { Emit, Run } from './run.ts'
import type { ContinueRun } from './loop.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { Account, ToolsFor } from './tools/tool.ts'

/** How long the user has to agree, ms. */
const AGREE_WITHIN = 300 * SECOND

export type Answered = Omit<AssistantAnswer, 'ok'>

/** Everything that stays the same while one answer is made. */
export interface AnswerContext {
  account: Account
  choice: Choice
  dialogue: Dialogue
  signal: AbortSignal
  emit: Emit
}

/** What is stored while a confirmation is waited for. */
export interface Paused {
  run: Run
  chat: string
}

interface Parts {
  database: Database
  clock: Clock
  continueRun: ContinueRun
  budgets: Budgets
  toolsFor: ToolsFor
  ledger: Ledger
}

/** Goes on with runs in conversations, and stores what comes of them. */
export function makeAnswer({ database, clock, continueRun, budgets, toolsFor, ledger }: Parts) {
  async function continueAndCount(run: Run, context: AnswerContext, allow?: boolean) {
    const tools = await toolsFor({})
    const { account, choice, signal, emit, dialogue } = context
    const open = async () => {
      const conversation = await dialogue.id()
      return { conversation, changeSet: ledger.open({ account, conversation }) }
    }
    let opened: ReturnType<typeof open> | undefined
    const place = () => (opened ??= open())
    try {
      const pending = await continueRun(run, { account, choice, signal, emit, place, tools }, allow)
      return { pending, changed: (await opened)?.changeSet.id() }
    } catch (error) {
      await database.write((tx) => budgets.use(tx, account.id, run.tokens))
      throw error
    }
  }

  /** Keeps a run until the user has agreed or declined. */
  async function pause(run: Run, { account, choice, dialogue, emit }: AnswerContext, pending: Pending) {
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
      expires_at: clock.now() + AGREE_WITHIN,
    }
  }

  /** The next answer of a run; `allow` is the user's word for the call it waits with. */
  return async function answer(run: Run, context: AnswerContext, allow?: boolean): Promise<Answered> {
    const { account, choice, dialogue, emit } = context
    const { pending, changed } = await continueAndCount(run, context, allow)
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
    const changes = changed === undefined ? {} : { change_set_id: changed }
    return { response, actions, conversation_id: conversation, ...changes, usage }
  }
}

export type MakeAnswer = ReturnType<typeof makeAnswer>
