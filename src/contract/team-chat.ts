import { Type } from 'typebox'
import { action, endpoint, none } from './define.ts'
import { Count, Id, Limit, Ok, Timestamp, Wait } from './shapes.ts'

const both = { session: true, device: true } as const

const Person = Type.Object({
  id: Id,
  username: Type.String(),
  display_name: Type.String(),
  avatar_color: Type.String(),
})

const Reaction = Type.Object({ emoji: Type.String(), count: Count, user_ids: Type.Array(Id), mine: Type.Boolean() })

const Message = Type.Object({
  message_id: Id,
  room_id: Id,
  user_id: Id,
  username: Type.String(),
  display_name: Type.String(),
  avatar_color: Type.String(),
  content: Type.String(),
  timestamp: Timestamp,
  edited_at: Type.Union([Timestamp, Type.Null()]),
  is_assistant: Type.Boolean(),
  is_former: Type.Optional(
    Type.Boolean({ description: 'Whether the account of its author was removed; otherwise left out.' }),
  ),
  reply_to: Type.Union([Id, Type.Null()]),
  reactions: Type.Array(Reaction),
})

const RoomType = Type.Union([Type.Literal('channel'), Type.Literal('dm')])

const Room = Type.Object({
  room_id: Id,
  name: Type.String(),
  type: RoomType,
  created_by: Id,
  created_at: Timestamp,
  participant_count: Count,
  participants: Type.Array(Person),
  last_message: Type.Union([Message, Type.Null()]),
  unread_count: Count,
})

/** 1 byte to 16 KiB; the bytes are counted by the domain. */
const Content = Type.String({ minLength: 1, maxLength: 16_384, description: '1 byte to 16 KiB.' })
const RoomName = Type.String({ minLength: 1, maxLength: 100 })
const UserIds = Type.Array(Id, { maxItems: 200 })
const Moment = Type.String({ maxLength: 40, description: 'ISO 8601; messages strictly before or after it.' })
const RoomId = Type.Integer({ ...Id, description: 'A room of the caller.' })
const ofRoom = Type.Object({ room_id: RoomId })
const done = Type.Object({ ok: Ok })

export const teamChat = endpoint('/api/team-chat.php', {
  rooms: action({
    summary: 'Rooms of the caller, the one with the newest message first.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, rooms: Type.Array(Room) }),
    errors: [],
    example: {},
  }),
  messages: action({
    summary: 'Messages of a room, oldest first.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: Type.Object({ room_id: RoomId, before: Type.Optional(Moment), limit: Type.Optional(Limit(50, 200)) }),
    result: Type.Object({ ok: Ok, messages: Type.Array(Message), has_more: Type.Boolean() }),
    errors: ['forbidden'],
    example: { room_id: 1 },
  }),
  send: action({
    summary: 'Post a message. The same `client_id` again answers the first message.',
    method: 'POST',
    stores: true,
    auth: both,
    limit: 'chat_send',
    params: Type.Object({
      room_id: Id,
      content: Content,
      reply_to: Type.Optional(Id),
      client_id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    }),
    result: Type.Object({ ok: Ok, message: Message }),
    errors: ['forbidden', 'not_found', 'quota_exceeded'],
    example: { room_id: 1, content: 'Good morning' },
  }),
  edit: action({
    summary: 'Change the text of an own message.',
    method: 'POST',
    auth: both,
    limit: 'chat_send',
    params: Type.Object({ message_id: Id, content: Content }),
    result: Type.Object({ ok: Ok, message_id: Id }),
    errors: ['forbidden', 'not_found', 'quota_exceeded'],
    example: { message_id: 1, content: 'Good evening' },
  }),
  delete: action({
    summary: 'Delete an own message; administrators any message of a room they are in.',
    method: 'POST',
    auth: both,
    limit: 'chat_send',
    params: Type.Object({ message_id: Id }),
    result: Type.Object({ ok: Ok, message_id: Id }),
    errors: ['forbidden', 'not_found'],
    example: { message_id: 2 },
  }),
  poll: action({
    summary: 'What happened in a room since a moment. Pass the answered `timestamp` as the next `after`.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: Type.Object({ room_id: RoomId, after: Moment, wait: Type.Optional(Wait) }),
    result: Type.Object({
      ok: Ok,
      messages: Type.Array(Message),
      changed: Type.Array(Message, { description: 'Edited, reacted to or left behind by a removed account since.' }),
      deleted: Type.Array(Id),
      typing: Type.Array(
        Type.Object({
          user_id: Id,
          display_name: Type.String(),
          is_assistant: Type.Optional(
            Type.Boolean({ description: 'The assistant, which answers the user of this id; otherwise left out.' }),
          ),
        }),
      ),
      timestamp: Timestamp,
    }),
    errors: ['forbidden'],
    example: { room_id: 1, after: '2026-01-01T00:00:00.000Z' },
  }),
  create_room: action({
    summary: 'Open a room. A `dm` has exactly two people, and an existing one is answered again.',
    method: 'POST',
    auth: both,
    limit: 'chat_create_room',
    params: Type.Object({ name: RoomName, type: RoomType, participants: UserIds }),
    result: Type.Object({ ok: Ok, room: Room }),
    errors: ['not_found', 'quota_exceeded'],
    example: { name: 'Engines', type: 'channel', participants: [] },
  }),
  delete_room: action({
    summary: 'Delete a room with its messages and files: its creator, or an administrator.',
    method: 'POST',
    auth: both,
    limit: 'none',
    params: ofRoom,
    result: done,
    errors: ['forbidden'],
    example: { room_id: 2 },
  }),
  react: action({
    summary: 'Add a reaction, or take it back.',
    method: 'POST',
    auth: both,
    limit: 'chat_send',
    params: Type.Object({ message_id: Id, emoji: Type.String({ minLength: 1, maxLength: 32 }) }),
    result: Type.Object({ ok: Ok, message_id: Id, reactions: Type.Array(Reaction), added: Type.Boolean() }),
    errors: ['not_found', 'too_many_operations', 'quota_exceeded'],
    example: { message_id: 1, emoji: '👍' },
  }),
  typing: action({
    summary: 'Say that the caller is typing; lasts 6 seconds.',
    method: 'POST',
    auth: both,
    limit: 'chat_presence',
    params: ofRoom,
    result: done,
    errors: ['forbidden'],
    example: { room_id: 1 },
  }),
  presence: action({
    summary: 'Say that the caller is looking at the room.',
    method: 'POST',
    auth: both,
    limit: 'chat_presence',
    params: ofRoom,
    result: done,
    errors: ['forbidden'],
    example: { room_id: 1 },
  }),
  online: action({
    summary: 'Users active within the last 2 minutes.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, users: Type.Array(Person) }),
    errors: [],
    example: {},
  }),
  read: action({
    summary: 'Mark a room as read.',
    method: 'POST',
    auth: both,
    limit: 'none',
    params: ofRoom,
    result: done,
    errors: ['forbidden'],
    example: { room_id: 1 },
  }),
  search: action({
    summary: "Messages of the caller's rooms that contain a text, newest first; upper and lower case are the same.",
    method: 'GET',
    auth: both,
    limit: 'chat_search',
    cost: 5,
    params: Type.Object({
      query: Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'The text; no character of it has a meaning of its own.',
      }),
      room_id: Type.Optional(Type.Integer({ ...Id, description: 'Only messages of this room.' })),
    }),
    result: Type.Object({ ok: Ok, messages: Type.Array(Message) }),
    errors: ['forbidden'],
    example: { query: 'morning' },
  }),
  users: action({
    summary: 'Everybody one can talk to.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, users: Type.Array(Person) }),
    errors: [],
    example: {},
  }),
  unread: action({
    summary: 'Unread messages of each room.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, rooms: Type.Array(Type.Object({ room_id: Id, unread: Count })), total: Count }),
    errors: [],
    example: {},
  }),
  members: action({
    summary: 'Who is in a room, and when they were last active in it.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: ofRoom,
    result: Type.Object({
      ok: Ok,
      members: Type.Array(Type.Object({ ...Person.properties, last_active: Type.Union([Timestamp, Type.Null()]) })),
    }),
    errors: ['forbidden'],
    example: { room_id: 1 },
  }),
  invite: action({
    summary: 'Bring more people into a channel.',
    method: 'POST',
    auth: both,
    limit: 'chat_create_room',
    params: Type.Object({ room_id: RoomId, user_ids: UserIds }),
    result: Type.Object({ ok: Ok, room: Room }),
    errors: ['forbidden', 'not_found'],
    example: { room_id: 1, user_ids: [2] },
  }),
  rename_room: action({
    summary: 'Give a channel another name: its creator, or an administrator in it.',
    method: 'POST',
    auth: both,
    limit: 'none',
    params: Type.Object({ room_id: RoomId, name: RoomName }),
    result: Type.Object({ ok: Ok, room: Room }),
    errors: ['forbidden'],
    example: { room_id: 1, name: 'Difference engines' },
  }),
  leave: action({
    summary: 'Leave a channel.',
    method: 'POST',
    auth: both,
    limit: 'none',
    params: ofRoom,
    result: done,
    errors: ['forbidden'],
    example: { room_id: 1 },
  }),
  remove_participant: action({
    summary: 'Take somebody out of a channel: its creator, or an administrator in it.',
    method: 'POST',
    auth: both,
    limit: 'none',
    params: Type.Object({ room_id: RoomId, user_id: Id }),
    result: done,
    errors: ['forbidden', 'not_found'],
    example: { room_id: 1, user_id: 2 },
  }),
})
