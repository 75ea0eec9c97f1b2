import type { ColumnType } from 'kysely'

// Stored rows of the assistant. Times are epoch ms, booleans 0 or 1.

type Key = ColumnType<number, number | undefined, never>
type Default<T> = ColumnType<T, T | undefined, T>

export interface AssistantConversationRow {
  id: Key
  user_id: number
  title: string
  /** Whether it contains untrusted text: files, web pages, messages of others. */
  tainted: Default<number>
  created_at: number
  updated_at: number
}

export interface AssistantMessageRow {
  id: Key
  conversation_id: number
  role: 'user' | 'assistant'
  content: string
  /** JSON array. */
  actions: string
  created_at: number
}

export interface AssistantConfirmationRow {
  id: string
  user_id: number
  conversation_id: number
  /** JSON object: the exact call that waits, and the state to continue with. */
  state: string
  expires_at: number
}

export interface AssistantUsageRow {
  user_id: number
  /** Days since 1970-01-01 UTC. */
  day: number
  tokens: number
}

export interface AssistantMentionRow {
  message_id: number
  room_id: number
  user_id: number
  asked_at: number
  /** How often an answer was started. */
  tries: Default<number>
  /** The assistant's name while it answers, and until when it counts as typing; 0 for not yet. */
  name: Default<string>
  working_until: Default<number>
}
