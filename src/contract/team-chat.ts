import { action, endpoint, none } from './define.ts'
import { Count, Id, Limit, Ok, Timestamp, Wait } from './shapes.ts'
import { Type } from './schema.ts'

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
    Type.Boolean({ description: 'True if the account of the author was removed; otherwise omitted.' }),
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

/** 1 byte to 16 KiB; the domain counts the bytes. */
const Content = Type.String({ minLength: 1, maxLength: 16_384, description: '1 byte to 16 KiB.' })
const RoomName = Type.String({ minLength: 1, maxLength: 100 })
const UserIds = Type.Array(Id, { maxItems: 200 })
const Moment = Type.String({ maxLength: 40, description: 'ISO 8601; messages strictly before or after it.' })
const RoomId = Type.Integer({ ...Id, description: 'A room of the caller.' })
const ofRoom = Type.Object({ room_id: RoomId })
const done = Type.Object({ ok: Ok })

export const teamChat = endpoint('/api/team-chat.php', {
  rooms: action({
    summary: 'Rooms of the caller, most recent message first.',
    method: 'GET',
    answers: 'large',
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
    summary: 'Post a message. Repeating a `client_id` returns the first message.',
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
    summary: 'Change the text of one of your messages.',
    method: 'POST',
    auth: both,
    limit: 'chat_send',
    params: Type.Object({ message_id: Id, content: Content }),
    result: Type.Object({ ok: Ok, message_id: Id }),
    errors: ['forbidden', 'not_found', 'quota_exceeded'],
    example: { message_id: 1, content: 'Good evening' },
  }),
  delete: action({
    summary: 'Delete one of your messages. Administrators can delete any message in their rooms.',
    method: 'POST',
    auth: both,
    limit: 'chat_send',
    params: Type.Object({ message_id: Id }),
    result: Type.Object({ ok: Ok, message_id: Id }),
    errors: ['forbidden', 'not_found'],
    example: { message_id: 2 },
  }),
  poll: action({
    summary: 'Events in a room since a time. Pass the returned `timestamp` as the next `after`.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: Type.Object({ room_id: RoomId, after: Moment, wait: Type.Optional(Wait) }),
    result: Type.Object({
      ok: Ok,
      messages: Type.Array(Message),
      changed: Type.Array(Message, {
        description: 'Messages edited, reacted to, or left by a removed account since then.',
      }),
      deleted: Type.Array(Id),
      typing: Type.Array(
        Type.Object({
          user_id: Id,
          display_name: Type.String(),
          is_assistant: Type.Optional(
            Type.Boolean({
              description: 'True if the assistant is answering the user with this ID; otherwise omitted.',
            }),
          ),
        }),
      ),
      timestamp: Timestamp,
    }),
    errors: ['forbidden'],
    example: { room_id: 1, after: '2026-01-01T00:00:00.000Z' },
  }),
  create_room: action({
    summary: 'Create a room. A `dm` has exactly two people; if it exists, it is returned.',
    method: 'POST',
    auth: both,
    limit: 'chat_create_room',
    params: Type.Object({ name: RoomName, type: RoomType, participants: UserIds }),
    result: Type.Object({ ok: Ok, room: Room }),
    errors: ['not_found', 'quota_exceeded'],
    example: { name: 'Engines', type: 'channel', participants: [] },
  }),
  delete_room: action({
    summary: 'Delete a room with its messages and files. Allowed for its creator and administrators.',
    method: 'POST',
    auth: both,
    limit: 'none',
    params: ofRoom,
    result: done,
    errors: ['forbidden'],
    example: { room_id: 2 },
  }),
  react: action({
    summary: 'Add or remove a reaction.',
    method: 'POST',
    auth: both,
    limit: 'chat_send',
    params: Type.Object({ message_id: Id, emoji: Type.String({ minLength: 1, maxLength: 32 }) }),
    result: Type.Object({ ok: Ok, message_id: Id, reactions: Type.Array(Reaction), added: Type.Boolean() }),
    errors: ['not_found', 'too_many_operations', 'quota_exceeded'],
    example: { message_id: 1, emoji: '👍' },
  }),
  typing: action({
    summary: 'Report that the caller is typing, for 6 seconds.',
    method: 'POST',
    auth: both,
    limit: 'chat_presence',
    params: ofRoom,
    result: done,
    errors: ['forbidden'],
    example: { room_id: 1 },
  }),
  presence: action({
    summary: 'Report that the caller is viewing the room.',
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
    summary: "Messages that contain a text in the caller's rooms, newest first. Case-insensitive.",
    method: 'GET',
    auth: both,
    limit: 'chat_search',
    cost: 5,
    params: Type.Object({
      query: Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'The literal text; there are no wildcards.',
      }),
      room_id: Type.Optional(Type.Integer({ ...Id, description: 'Only messages of this room.' })),
    }),
    result: Type.Object({ ok: Ok, messages: Type.Array(Message) }),
    errors: ['forbidden'],
    example: { query: 'morning' },
  }),
  users: action({
    summary: 'All users that the caller can talk to.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, users: Type.Array(Person) }),
    errors: [],
    example: {},
  }),
  unread: action({
    summary: 'Number of unread messages per room.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, rooms: Type.Array(Type.Object({ room_id: Id, unread: Count })), total: Count }),
    errors: [],
    example: {},
  }),
  members: action({
    summary: 'Members of a room, and when they were last active in it.',
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
    summary: 'Add people to a channel.',
    method: 'POST',
    auth: both,
    limit: 'chat_create_room',
    params: Type.Object({ room_id: RoomId, user_ids: UserIds }),
    result: Type.Object({ ok: Ok, room: Room }),
    errors: ['forbidden', 'not_found'],
    example: { room_id: 1, user_ids: [2] },
  }),
  rename_room: action({
    summary: 'Rename a channel. Allowed for its creator and administrators in it.',
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
    summary: 'Remove someone from a channel. Allowed for its creator and administrators in it.',
    method: 'POST',
    auth: both,
    limit: 'none',
    params: Type.Object({ room_id: RoomId, user_id: Id }),
    result: done,
    errors: ['forbidden', 'not_found'],
    example: { room_id: 1, user_id: 2 },
  }),
})
