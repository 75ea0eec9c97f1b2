import type { Clock } from '../../../base/clock.ts'
import type { ModelMessage } from '../../../base/language-model.ts'
import { byteLength } from '../../../base/text.ts'
import type { Database } from '../../../storage/engine/database.ts'
import type { Chat } from '../../chat/chat.ts'
import type { Budgets } from '../models/budgets.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { AssistantModels } from '../models/models.ts'
import { asData, inRoom } from '../prompts.ts'
import { newRun } from '../run.ts'
import type { ContinueRun } from '../loop.ts'
import { cutTo } from '../model-text.ts'
import { untilStored } from './until-stored.ts'
import type { Account, ToolsFor } from '../tools/tool.ts'

/** Messages of the room in the prompt: their number, and bytes of each and in total. */
const CONTEXT_LIMITS = { messages: 30, each: 2_000, all: 10_000 }
/** Longest answer in bytes: the limit of a message. */
const ANSWER_BYTES = 16_384

interface Deps {
  database: Database
  clock: Clock
  chat: Pick<Chat, 'messages' | 'room'>
  models: AssistantModels
  continueRun: ContinueRun
  budgets: Budgets
  toolsFor: ToolsFor
  ledger: Ledger
}

/** Answers questions in rooms with the tools of that room only. Stores no conversation. */
export function makeRoomAnswer({ database, clock, chat, models, continueRun, budgets, toolsFor, ledger }: Deps) {
  async function latestMessages(account: Account, room: number): Promise<string> {
    const { messages } = await chat.messages(account.id, { room_id: room, limit: CONTEXT_LIMITS.messages })
    const lines = messages.map(({ display_name, username, is_assistant, content }) => {
      const text = cutTo(content, CONTEXT_LIMITS.each, '…')
      return is_assistant ? `you: ${text}` : `${display_name} (@${username}): ${text}`
    })
    let left = CONTEXT_LIMITS.all
    let from = lines.length
    while (from > 0 && byteLength(lines[from - 1]!) < left) left -= byteLength(lines[--from]!)
    return lines.slice(from).join('\n')
  }

  /** Throws `ModelError`, the reason of the signal, and the fault `assistant_unavailable`. */
  return async function answerIn(
    room: number,
    { account, name, content, signal }: { account: Account; name: string; content: string; signal: AbortSignal },
  ): Promise<string> {
    const choice = await models.choice()
    const shown = await chat.room(account.id, room)
    const messages: ModelMessage[] = [
      { role: 'system', text: inRoom({ name, account, now: clock.now() }) },
      {
        role: 'user',
        text: `${asData('messages of the room', `#${shown?.name ?? ''}\n${await latestMessages(account, room)}`)}\n\n${content}`,
      },
    ]
    const worker = { model: choice.agent ?? choice.chat, messages, question: 1 }
    // Tainted from the start: the prompt contains messages of others.
    const run = newRun(worker, true)
    const tools = await toolsFor({ room })
    const changeSet = ledger.open({ account, conversation: undefined })
    const scope = () => Promise.resolve({ conversation: undefined, changeSet })
    try {
      await continueRun(run, { account, room, signal, choice, scope, tools, emit: () => undefined })
    } finally {
      const count = () => database.write({ accounts: [account.id] }, (tx) => budgets.use(tx, account.id, run.tokens))
      // An outage may cost the count, but not the answer.
      await untilStored(count, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
    }
    return cutTo(run.said.trim().toWellFormed(), ANSWER_BYTES, '\n…') || 'I have no answer to that.'
  }
}
