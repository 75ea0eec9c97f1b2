import type { Clock } from '../../base/clock.ts'
import type { LanguageModels } from '../../base/language-model.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Chat } from '../chat/chat.ts'
import type { Audit, Settings } from '../instance/instance.ts'
import { dataBoundsOf } from '../data-bounds.ts'
import { makeAnswers } from './answers.ts'
import { makeBudgets } from './models/budgets.ts'
import { BOUNDS, makeCalls, type Bounds } from './tools/calls.ts'
import { makeConversations } from './conversations.ts'
import { makeExamine } from './models/examine.ts'
import { makeAssistantModels } from './models/models.ts'
import { makeMentions } from './rooms/mentions.ts'
import { makeBeginning } from './begin-run.ts'
import { makeAnswer } from './make-answer.ts'
import { makeLoop } from './loop.ts'
import type { MentionListener } from './rooms/mention-listener.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { ToolsFor } from './tools/tool.ts'

export { makeMentionListener, type MentionListener } from './rooms/mention-listener.ts'
export type { Emit } from './run.ts'

interface Parts {
  database: Database
  clock: Clock
  settings: Settings
  audit: Audit
  languageModels: LanguageModels
  toolsFor: ToolsFor
  ledger: Ledger
  chat: Chat
  mentionListener: MentionListener
  bounds?: Bounds
}

/** The assistant: answers questions with the models an administrator chose and the rights of whoever asks. */
export function makeAssistant({ bounds = BOUNDS, ...parts }: Parts) {
  const { database, clock, settings, audit, languageModels } = parts
  const models = makeAssistantModels({ languageModels, settings, clock })
  const conversations = makeConversations({
    database,
    clock,
    bound: async () => (await dataBoundsOf(settings)()).assistant,
  })
  const calls = makeCalls({ database, audit, bounds })
  const beginning = makeBeginning({ clock, settings, languageModels, models })
  const continueRun = makeLoop({ languageModels, models, calls, bounds })
  const dailyTokens = async () => (await settings.values())['assistant.daily_tokens']
  const budgets = makeBudgets({ database, clock, dailyTokens })
  const answer = makeAnswer({ ...parts, continueRun, budgets })
  const { list, messages, remove } = conversations
  return {
    ...makeAnswers({ database, clock, models, conversations, beginning, answer, budgets, bounds }),
    conversations: { list, messages, remove },
    mentions: makeMentions({ ...parts, models, continueRun, budgets, bounds }),
    /** What it changed, and the way back. */
    changes: { list: parts.ledger.list, undo: parts.ledger.undo },
    /** The models that may be asked for, the standard one first; none when nothing is set up. */
    models: models.list,
    /** Whether the models are there, for diagnosis. */
    examine: makeExamine({ languageModels, models, toolsFor: parts.toolsFor }),
  }
}

export type Assistant = ReturnType<typeof makeAssistant>
