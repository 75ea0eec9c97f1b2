import { iso, type Clock } from '../../base/clock.ts'
import type { ModelMessage } from '../../base/language-model.ts'
import type { assistant, AssistantAction } from '../../contract/assistant.ts'
import type { Answer } from '../../contract/define.ts'
import { fault } from '../../contract/errors.ts'
import {
  conversationOf,
  conversationsOf,
  deleteConversation,
  insertConversation,
  insertTurn,
  touchConversation,
  turnsOf,
  type Conversation,
} from '../../storage/assistant/conversations.ts'
import type { DataBound } from '../../storage/engine/data-kinds.ts'
import { dataUsage } from '../../storage/engine/data-usage.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import { excessOf } from '../data-bounds.ts'
import { titleOf } from './title.ts'

type Listed = Answer<typeof assistant.actions.conversations>['conversations']
type Shown = Answer<typeof assistant.actions.messages>['messages']

const LISTED = { default: 100, max: 500 }
/** Most messages that are listed, and that a model receives. */
const MAX_LISTED = 2_000
const MAX_RECALLED = 100

/** One question and its answer in a conversation, stored as late as possible. */
export interface Dialogue {
  id(): Promise<number>
  /** Stores the answer in one transaction with `unit`. Returns the id of the conversation. */
  answer(
    said: { content: string; actions: AssistantAction[]; tainted: boolean },
    unit: (tx: Writer) => Promise<void>,
  ): Promise<number>
}

interface Deps {
  database: Database
  clock: Clock
  /** Quota of an account's conversations. */
  bound: () => Promise<DataBound>
}

/** Users' conversations with the assistant. Fault `not_found` for another user's. */
export function makeConversations({ database, clock, bound }: Deps) {
  async function own(user: number, id: number): Promise<Conversation> {
    const found = await conversationOf(database.read, user, id)
    if (!found) throw fault('not_found')
    return found
  }

  return {
    async list(user: number, limit = LISTED.default): Promise<Listed> {
      const found = await conversationsOf(database.read, user, Math.min(limit, LISTED.max))
      return found.map(({ id, title, created_at, updated_at, messages }) => ({
        conversation_id: id,
        title,
        created_at: iso(created_at),
        updated_at: iso(updated_at),
        message_count: messages,
      }))
    },

    /** The messages of a conversation, oldest first. */
    async messages(user: number, id: number): Promise<Shown> {
      await own(user, id)
      const turns = await turnsOf(database.read, id, MAX_LISTED)
      return turns.map(({ id: message_id, role, content, actions, created_at }) => ({
        message_id,
        role,
        content,
        actions: JSON.parse(actions) as AssistantAction[],
        created_at: iso(created_at),
      }))
    },

    async remove(user: number, id: number): Promise<void> {
      if (!(await database.write({ accounts: [user] }, (tx) => deleteConversation(tx, user, id))))
        throw fault('not_found')
    },

    /** Refuses a question beyond the quota of conversations: fault `quota_exceeded`. An answer is always stored. */
    async assertRoom(user: number): Promise<void> {
      const { bytes, items } = await dataUsage(database.read, user, 'assistant')
      const text = excessOf('assistant', { bytes: bytes + 1, items: items + 1 }, await bound())
      if (text) throw fault('quota_exceeded', { text })
    },

    async recall(user: number, id: number): Promise<{ messages: ModelMessage[]; tainted: boolean }> {
      const { tainted } = await own(user, id)
      const turns = await turnsOf(database.read, id, MAX_RECALLED)
      const messages = turns.map(({ role, content }): ModelMessage =>
        role === 'user' ? { role, text: content } : { role, text: content, calls: [] },
      )
      return { messages, tainted: tainted === 1 }
    },

    /**
     * An exchange in an existing or a new conversation; `question` is undefined when a confirmation continues one. Its taint
     * is stored with it: an answer that fails leaves the question in the conversation.
     */
    dialogue(user: number, known: number | undefined, question?: { content: string; tainted: boolean }): Dialogue {
      let stored: Promise<number> | undefined
      const store = async (tx: Writer): Promise<number> => {
        const now = clock.now()
        const title = titleOf(question?.content ?? '')
        const created = { user_id: user, title, tainted: 0, created_at: now, updated_at: now }
        const id = known ?? (await insertConversation(tx, created))
        if (question) await append(tx, id, now, { role: 'user', ...question, actions: [] })
        return id
      }
      return {
        id: () => (stored ??= database.write({ accounts: [user] }, store)),
        async answer(said, unit) {
          const before = await stored
          return database.write({ accounts: [user] }, async (tx) => {
            const id = before ?? (await store(tx))
            await append(tx, id, clock.now(), { role: 'assistant', ...said })
            await unit(tx)
            return id
          })
        },
      }
    },
  }
}

export type Conversations = ReturnType<typeof makeConversations>

/** Appends a message. Fault `not_found` if the conversation was deleted meanwhile. */
async function append(
  tx: Writer,
  conversation: number,
  now: number,
  message: { role: 'user' | 'assistant'; content: string; actions: AssistantAction[]; tainted: boolean },
): Promise<void> {
  if (!(await touchConversation(tx, conversation, message.tainted, now))) throw fault('not_found')
  const { role, content, actions } = message
  await insertTurn(tx, { conversation, role, content, actions: JSON.stringify(actions), now })
}
