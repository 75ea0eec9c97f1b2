import type { Clock } from '../../base/clock.ts'
import type { LanguageModels } from '../../base/language-model.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Chat } from '../chat/chat.ts'
import type { Audit, Settings } from '../instance/instance.ts'
import { dataBoundsOf } from '../data-bounds.ts'
import { makeConversationAnswers } from './conversation-answers.ts'
import { makeBudgets } from './models/budgets.ts'
import { BOUNDS, makeToolCalls, type Bounds } from './tools/tool-calls.ts'
import { makeConversations } from './conversations.ts'
import { makeDiagnosis } from './models/diagnosis.ts'
import { makeAssistantModels } from './models/models.ts'
import { makeMentions } from './rooms/mentions.ts'
import { makeNewRuns } from './new-run.ts'
import { makeLoop } from './loop.ts'
import type { MentionListener } from './rooms/mention-listener.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { ToolsFor } from './tools/tool.ts'

export { makeMentionListener, type MentionListener } from './rooms/mention-listener.ts'
export type { Emit } from './run.ts'

interface Deps {
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
  /** How often mentions are looked for that nobody answers, ms. */
  checkIntervalMs?: number | undefined
}

/** Answers questions with the configured models and the rights of the user who asks. */
export function makeAssistant({ bounds = BOUNDS, ...deps }: Deps) {
  const { database, clock, settings, audit, languageModels } = deps
  const models = makeAssistantModels({ languageModels, settings, clock })
  const conversations = makeConversations({
    database,
    clock,
    bound: async () => (await dataBoundsOf(settings)()).assistant,
  })
  const toolCalls = makeToolCalls({ database, audit, bounds })
  const newRuns = makeNewRuns({ clock, settings, languageModels, models })
  const continueRun = makeLoop({ languageModels, models, toolCalls, bounds })
  const dailyTokens = async () => (await settings.values())['assistant.daily_tokens']
  const budgets = makeBudgets({ database, clock, dailyTokens })
  const { list, messages, remove } = conversations
  return {
    ...makeConversationAnswers({ ...deps, models, conversations, newRuns, continueRun, budgets, bounds }),
    conversations: { list, messages, remove },
    mentions: makeMentions({ ...deps, models, continueRun, budgets, bounds }),
    changes: { list: deps.ledger.list, undo: deps.ledger.undo },
    /** The selectable models, the default first; empty if none is configured. */
    models: models.list,
    /** Checks the configured models, for `svc doctor`. */
    diagnose: makeDiagnosis({ languageModels, models, toolsFor: deps.toolsFor }),
  }
}

export type Assistant = ReturnType<typeof makeAssistant>
