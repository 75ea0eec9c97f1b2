import type { ColumnType } from 'kysely'

// Stored rows of rooms and messages. Times are epoch ms, booleans 0 or 1.

type Key = ColumnType<number, number | undefined, never>
type Default<T> = ColumnType<T, T | undefined, T>

export interface RoomRow {
  id: Key
  name: string
  type: 'channel' | 'dm'
  created_by: number
  version: number
  created_at: number
  updated_at: number
  /** Time of the latest change in the room; it only increases. */
  stamp: Default<number>
  /** IDs of the two users of a direct conversation, `<lower>:<higher>`; null for channels. */
  pair: string | null
  /** `stamp` of the latest change that the feeds of members take over; null while changes are entered in each at once. */
  feed_stamp: ColumnType<number | null, number | null | undefined, number | null>
  /** `stamp` of the latest new name that the feeds take over. */
  renamed_at: Default<number>
}

export interface RoomMemberRow {
  room_id: number
  user_id: number
  joined_at: number
  /** Messages up to this time are read. */
  read_at: Default<number>
  last_active: Default<number>
  typing_until: Default<number>
  /** Changes up to this `stamp` of the room are in the member's feed, if the feeds of its members take them over. */
  feed_stamp: Default<number>
}

/** A room that an account left and whose messages its feed still has. */
export interface EndedMembershipRow {
  user_id: number
  room_id: number
  /** Messages up to this ID are ended in the feed. */
  ended_id: Default<number>
}

export interface MessageRow {
  id: Key
  room_id: number
  user_id: number
  content: string
  timestamp: number
  edited_at: number | null
  reply_to: number | null
  version: number
  is_assistant: Default<number>
  /** The assistant's name if it spoke for the user; otherwise null. */
  spoken_by: ColumnType<string | null, string | null | undefined, string | null>
  client_id: string | null
  /** The content folded to one case, for searches. */
  folded: Default<string>
  /** Latest edit or reaction; 0 for never. */
  changed_at: Default<number>
}

export interface DeletedMessageRow {
  message_id: number
  room_id: number
  deleted_at: number
  /** Its author; null if the account is gone, and for old rows without the column. */
  user_id: number | null
}

export interface ReactionRow {
  message_id: number
  user_id: number
  emoji: string
  created_at: number
}
