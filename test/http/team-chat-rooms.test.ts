import { beforeEach, describe, expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { teamChat } from '../../src/contract/team-chat.ts'
import { insertMembers } from '../../src/storage/chat/rooms.ts'
import type { Account } from '../support/account.ts'
import { channelOf, disable, heard, roomOf, say, unreadIn } from '../support/chat.ts'
import { serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const {
  rooms,
  create_room,
  delete_room,
  invite,
  rename_room,
  leave,
  remove_participant,
  members,
  presence,
  online,
  users,
  read,
  unread,
} = teamChat.actions

const server = await serverOfFile()

let ada: Account
let bob: Account
let cyd: Account
beforeEach(async () => {
  server.clock.pass(1_000)
  ;[ada, bob, cyd] = [await server.account(), await server.account(), await server.account()]
})

const personOf = ({ id, username }: Account) => ({
  id,
  username,
  display_name: username,
  avatar_color: '#336699',
})

const make = (account: Account, params: object) =>
  account.call(create_room, { name: 'Tea', type: 'channel', ...params })
const idsIn = async (account: Account, room: number) => (await roomOf(account, room))?.participants.map(({ id }) => id)

describe('a new channel', () => {
  test('has its creator in it, and everybody once', async () => {
    const created_at = new Date(server.clock.now()).toISOString()
    const participants = [bob.id, ada.id, bob.id]
    const { room } = await ada.ask(create_room, { name: ' Engines ', type: 'channel', participants })
    expect(room).toEqual({
      room_id: expect.any(Number) as number,
      name: 'Engines',
      type: 'channel',
      created_by: ada.id,
      created_at,
      participant_count: 2,
      participants: [personOf(ada), personOf(bob)],
      last_message: null,
      unread_count: 0,
    })
    expect(await roomOf(bob, room.room_id)).toEqual(room)
    expect((await cyd.ask(rooms, {})).rooms).toEqual([])
  })

  test('may be for its creator alone, and as many may have the same name as like', async () => {
    const [one, other] = [await channelOf(ada), await channelOf(ada)]
    expect((await ada.ask(rooms, {})).rooms.map(({ room_id }) => room_id)).toEqual([other, one])
  })

  test.each([
    ['nobody', () => 999_999_999],
    [
      'somebody who may not sign in',
      async () => {
        await disable(server, cyd)
        return cyd.id
      },
    ],
  ])('cannot have %s in it', async (_, who) => {
    const stranger = await who()
    const before = await commitsSeenBy(server.database)
    const reply = await make(ada, { participants: [bob.id, stranger] })
    expect([reply.status, reply.json['code']]).toEqual([404, 'not_found'])
    expect(await commitsSeenBy(server.database)).toEqual(before)
    expect((await bob.ask(rooms, {})).rooms).toEqual([])
  })

  test.each([
    ['no name', { name: '', participants: [] }],
    ['a blank name', { name: '  ', participants: [] }],
    ['a name of two lines', { name: 'a\nb', participants: [] }],
    ['a name that turns the screen around', { name: 'a\u202eb', participants: [] }],
    ['a name with a NUL', { name: 'a\0', participants: [] }],
    ['a name of 101 characters', { name: 'a'.repeat(101), participants: [] }],
    ['another type', { type: 'group', participants: [] }],
    ['no list', { participants: null }],
    ['a list of texts', { participants: ['1'] }],
    ['an id that is none', { participants: [0] }],
    ['201 people', { participants: Array.from({ length: 201 }, (_, i) => i + 1) }],
  ])('is refused with %s', async (_, params) => {
    const reply = await make(ada, params)
    expect([reply.status, reply.json['code']]).toEqual([400, 'bad_request'])
    expect((await ada.ask(rooms, {})).rooms).toEqual([])
  })
})

describe('a dm', () => {
  const talk = (from: Account, ...to: Account[]) => make(from, { type: 'dm', participants: to.map(({ id }) => id) })

  test('has exactly two people', async () => {
    expect((await talk(ada, bob)).json['room']).toMatchObject({ type: 'dm', participant_count: 2 })
    for (const people of [[], [ada], [bob, cyd]]) expect((await talk(ada, ...people)).status).toBe(400)
    expect((await talk(ada, bob, ada)).status).toBe(200)
    expect((await ada.ask(rooms, {})).rooms).toHaveLength(1)
  })

  test('of the same two is the same, whoever asks', async () => {
    const { json: first } = await talk(ada, bob)
    const { json: second } = await make(bob, { name: 'Other', type: 'dm', participants: [ada.id] })
    expect(second).toEqual(first)
    expect(((await talk(ada, cyd)).json['room'] as { room_id: number }).room_id).not.toBe(
      (first['room'] as { room_id: number }).room_id,
    )
  })

  test('is made once, however many ask at the same moment', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? talk(ada, bob) : talk(bob, ada))))
    expect(new Set(replies.map(({ json }) => (json['room'] as { room_id: number }).room_id)).size).toBe(1)
    expect((await ada.ask(rooms, {})).rooms).toHaveLength(1)
    expect((await bob.ask(rooms, {})).rooms).toHaveLength(1)
  })

  test('keeps its people and its name', async () => {
    const { room_id } = (await talk(ada, bob)).json['room'] as { room_id: number }
    for (const [action, params] of [
      [leave, { room_id }],
      [invite, { room_id, user_ids: [cyd.id] }],
      [rename_room, { room_id, name: 'Other' }],
      [remove_participant, { room_id, user_id: bob.id }],
    ] as const) {
      const reply = await ada.call(action, params)
      expect([action.name, reply.status, reply.json['code']]).toEqual([action.name, 403, 'forbidden'])
    }
    expect(await roomOf(ada, room_id)).toMatchObject({ name: 'Tea', participant_count: 2 })
  })
})

describe('the list of rooms', () => {
  test('has the room with the newest message first, and says what is new', async () => {
    const [one, two] = [await channelOf(ada, bob), await channelOf(ada, bob)]
    server.clock.pass(1_000)
    const first = await say(bob, one, 'first')
    server.clock.pass(1_000)
    await say(bob, two, 'second')
    server.clock.pass(1_000)
    const last = await say(bob, one, 'third', { reply_to: first.message_id })
    expect((await ada.ask(rooms, {})).rooms).toMatchObject([
      { room_id: one, unread_count: 2, last_message: last },
      { room_id: two, unread_count: 1, last_message: { content: 'second', user_id: bob.id } },
    ])
    expect((await ada.ask(unread, {})).total).toBe(3)
    expect((await bob.ask(unread, {})).total).toBe(0)
    await ada.ask(read, { room_id: one })
    expect((await ada.ask(unread, {})).rooms).toEqual([
      { room_id: one, unread: 0 },
      { room_id: two, unread: 1 },
    ])
  })

  test('counts own messages as read, and what came before one’s own', async () => {
    const room = await channelOf(ada, bob)
    await say(bob, room, 'one')
    await say(ada, room, 'two')
    expect(await unreadIn(ada, room)).toBe(0)
    await say(bob, room, 'three')
    expect([await unreadIn(ada, room), await unreadIn(bob, room)]).toEqual([1, 0])
  })

  test('is right for many rooms at once', async () => {
    for (let i = 0; i < 12; i += 1) await say(bob, await channelOf(ada, bob, cyd), `hello ${i}`)
    const list = (await ada.ask(rooms, {})).rooms
    expect(list.map(({ last_message }) => last_message?.content)).toEqual(
      Array.from({ length: 12 }, (_, i) => `hello ${11 - i}`),
    )
    expect(list.every(({ participant_count, unread_count }) => participant_count === 3 && unread_count === 1)).toBe(
      true,
    )
  })
})

describe('who is in a channel', () => {
  test('may bring others in, who see everything said before, and owe no reading of it', async () => {
    const room = await channelOf(ada, bob)
    await say(ada, room, 'before')
    const answer = await bob.ask(invite, { room_id: room, user_ids: [cyd.id, ada.id, cyd.id] })
    expect(answer.room.participants.map(({ id }) => id)).toEqual([ada.id, bob.id, cyd.id])
    expect(await heard(cyd, room)).toMatchObject([{ content: 'before' }])
    expect(await unreadIn(cyd, room)).toBe(0)
    // Those who were there keep what they have not read.
    expect(await unreadIn(bob, room)).toBe(1)
  })

  test('may bring in nobody, which changes nothing', async () => {
    const room = await channelOf(ada, bob)
    const { cursor } = await bob.everything()
    const answer = await ada.ask(invite, { room_id: room, user_ids: [] })
    expect(answer.room.participants.map(({ id }) => id)).toEqual([ada.id, bob.id])
    expect((await bob.everything()).cursor).toBe(cursor)
    expect((await cyd.call(invite, { room_id: room, user_ids: [] })).status).toBe(403)
  })

  test('cannot bring in who is not there', async () => {
    const room = await channelOf(ada)
    const reply = await ada.call(invite, { room_id: room, user_ids: [bob.id, 999_999_999] })
    expect([reply.status, reply.json['code']]).toEqual([404, 'not_found'])
    expect(await idsIn(ada, room)).toEqual([ada.id])
  })

  test('may leave it, and then it is as if it were not there', async () => {
    const room = await channelOf(ada, bob)
    await ada.ask(leave, { room_id: room })
    expect(await roomOf(ada, room)).toBeUndefined()
    expect(await idsIn(bob, room)).toEqual([bob.id])
    expect((await ada.call(leave, { room_id: room })).status).toBe(403)
  })

  test('closes it when nobody is left', async () => {
    const admin = await server.account({ role: 'admin' })
    const room = await channelOf(ada, bob)
    await say(ada, room, 'last words')
    await ada.ask(leave, { room_id: room })
    await bob.ask(leave, { room_id: room })
    expect((await admin.call(delete_room, { room_id: room })).status).toBe(403)
    const left = await server.database.read.q.selectFrom('messages').select('id').where('room_id', '=', room).execute()
    expect(left).toEqual([])
  })

  test('is taken out by its creator or an administrator in it, nobody else', async () => {
    const admin = await server.account({ role: 'admin' })
    const room = await channelOf(ada, bob, cyd)
    expect((await bob.call(remove_participant, { room_id: room, user_id: cyd.id })).status).toBe(403)
    expect((await admin.call(remove_participant, { room_id: room, user_id: cyd.id })).status).toBe(403)
    expect((await ada.call(remove_participant, { room_id: room, user_id: admin.id })).status).toBe(404)
    await ada.ask(invite, { room_id: room, user_ids: [admin.id] })
    await admin.ask(remove_participant, { room_id: room, user_id: ada.id })
    await admin.ask(remove_participant, { room_id: room, user_id: cyd.id })
    expect(await idsIn(bob, room)).toEqual([bob.id, admin.id])
  })

  test('sees it renamed by its creator or an administrator in it, nobody else', async () => {
    const admin = await server.account({ role: 'admin' })
    const room = await channelOf(ada, bob)
    expect((await ada.ask(rename_room, { room_id: room, name: ' Looms ' })).room.name).toBe('Looms')
    expect((await bob.call(rename_room, { room_id: room, name: 'Mine' })).status).toBe(403)
    expect((await admin.call(rename_room, { room_id: room, name: 'Mine' })).status).toBe(403)
    expect((await ada.call(rename_room, { room_id: room, name: ' ' })).status).toBe(400)
    expect(await roomOf(bob, room)).toMatchObject({ name: 'Looms' })
    await ada.ask(invite, { room_id: room, user_ids: [admin.id] })
    expect((await admin.ask(rename_room, { room_id: room, name: 'Ours' })).room.name).toBe('Ours')
  })

  test('stands in its list with when they were last there', async () => {
    const room = await channelOf(ada, bob)
    const list = (await ada.ask(members, { room_id: room })).members
    expect(list).toEqual([
      { ...personOf(ada), last_active: null },
      { ...personOf(bob), last_active: null },
    ])
    await bob.ask(presence, { room_id: room })
    const now = new Date(server.clock.now()).toISOString()
    expect((await ada.ask(members, { room_id: room })).members).toMatchObject([
      { last_active: null },
      { last_active: now },
    ])
  })
})

describe('a room is deleted', () => {
  test('by its creator, with everything in it', async () => {
    const room = await channelOf(ada, bob)
    const { message_id } = await say(bob, room, 'gone soon')
    expect((await bob.call(delete_room, { room_id: room })).status).toBe(403)
    expect(await roomOf(bob, room)).toBeDefined()
    await ada.ask(delete_room, { room_id: room })
    expect([await roomOf(ada, room), await roomOf(bob, room)]).toEqual([undefined, undefined])
    expect((await bob.call(teamChat.actions.edit, { message_id, content: 'x' })).status).toBe(404)
    for (const table of ['messages', 'room_members', 'deleted_messages'] as const) {
      const rows = await server.database.read.q.selectFrom(table).selectAll().where('room_id', '=', room).execute()
      expect([table, rows]).toEqual([table, []])
    }
  })

  test.each([
    ['deleted', (room: number) => ada.ask(delete_room, { room_id: room })],
    [
      'left by all',
      async (room: number) => {
        await ada.ask(leave, { room_id: room })
        await bob.ask(leave, { room_id: room })
      },
    ],
  ])('with its files when it is %s, whose bytes go back to those who stored them', async (_, ends) => {
    const { write, quota, read: readFile } = filesystem.actions
    const room = await channelOf(ada, bob)
    await ada.ask(write, { path: '/mine.txt', content: 'mine' })
    await ada.ask(write, { path: '/Teamchat/Engines/plan.txt', content: 'a plan' })
    await bob.ask(write, { path: '/Teamchat/Engines/notes/note.txt', content: 'a note' })
    expect([(await ada.ask(quota, {})).used, (await bob.ask(quota, {})).used]).toEqual([10, 6])
    await ends(room)
    expect([(await ada.ask(quota, {})).used, (await bob.ask(quota, {})).used]).toEqual([4, 0])
    expect((await ada.call(readFile, { path: '/Teamchat/Engines/plan.txt' })).status).toBe(404)
    const nodes = await server.database.read.q.selectFrom('nodes').select('id').where('room_id', '=', room).execute()
    expect(nodes).toEqual([])
  })

  test('by an administrator who is not in it', async () => {
    const admin = await server.account({ role: 'admin' })
    const room = await channelOf(ada, bob)
    await admin.ask(delete_room, { room_id: room })
    expect(await roomOf(ada, room)).toBeUndefined()
    expect((await admin.call(delete_room, { room_id: room })).status).toBe(403)
  })

  test('not by a creator who was taken out of it', async () => {
    const admin = await server.account({ role: 'admin' })
    const room = await channelOf(ada, bob, admin)
    await admin.ask(remove_participant, { room_id: room, user_id: ada.id })
    expect((await ada.call(delete_room, { room_id: room })).status).toBe(403)
    expect(await roomOf(bob, room)).toBeDefined()
  })
})

describe('people', () => {
  test('one can talk to are all who can sign in, and nothing but their names is told', async () => {
    await disable(server, cyd)
    const all = (await ada.ask(users, {})).users
    expect(all).toEqual(expect.arrayContaining([personOf(ada), personOf(bob)]))
    expect(all.map(({ id }) => id)).not.toContain(cyd.id)
  })

  test('are online for 2 minutes after they were there', async () => {
    const room = await channelOf(ada, bob, cyd)
    const here = async () => {
      const mine = new Set([ada.id, bob.id, cyd.id])
      return (await ada.ask(online, {})).users.map(({ id }) => id).filter((id) => mine.has(id))
    }
    expect(await here()).toEqual([])
    await bob.ask(presence, { room_id: room })
    server.clock.pass(60_000)
    await say(cyd, room, 'hello')
    server.clock.pass(60_000)
    expect(await here()).toEqual([bob.id, cyd.id])
    server.clock.pass(1)
    expect(await here()).toEqual([cyd.id])
    await disable(server, cyd)
    expect(await here()).toEqual([])
  })
})

describe('who is not in a room', () => {
  const room_id = 1
  const asked = [
    ['messages', { room_id }],
    ['send', { room_id, content: 'x' }],
    ['poll', { room_id, after: '2026-01-01T00:00:00.000Z' }],
    ['poll', { room_id, after: '2026-01-01T00:00:00.000Z', wait: 5 }],
    ['typing', { room_id }],
    ['presence', { room_id }],
    ['read', { room_id }],
    ['search', { room_id, query: 'e' }],
    ['members', { room_id }],
    ['invite', { room_id, user_ids: [] }],
    ['rename_room', { room_id, name: 'x' }],
    ['leave', { room_id }],
    ['remove_participant', { room_id, user_id: 1 }],
    ['delete_room', { room_id }],
  ] as const

  test.each(asked)('is told the same by %s as if there were none, and changes nothing', async (name, params) => {
    const room = await channelOf(ada, bob, cyd)
    await say(ada, room, 'secret')
    await cyd.ask(leave, { room_id: room })
    const stranger = await server.account()
    const before = await commitsSeenBy(server.database)
    const action = teamChat.actions[name]
    const none = await stranger.call(action, { ...params, room_id: 999_999_999 })
    expect([none.status, none.json['code']]).toEqual([403, 'forbidden'])
    for (const outsider of [stranger, cyd]) {
      const reply = await outsider.call(action, { ...params, room_id: room })
      expect([reply.status, reply.json]).toEqual([403, none.json])
    }
    expect(await commitsSeenBy(server.database)).toEqual(before)
  })

  test.each([
    ['edit', { content: 'x' }],
    ['delete', {}],
    ['react', { emoji: '👍' }],
  ] as const)('finds none of its messages to %s, not even their own', async (name, params) => {
    const room = await channelOf(ada, bob)
    const admin = await server.account({ role: 'admin' })
    const { message_id } = await say(bob, room, 'mine')
    await bob.ask(leave, { room_id: room })
    const before = await commitsSeenBy(server.database)
    const action = teamChat.actions[name]
    for (const outsider of [bob, cyd, admin]) {
      const reply = await outsider.call(action, { ...params, message_id })
      expect([reply.status, reply.json['code'], reply.json['error']]).toEqual([404, 'not_found', 'Nicht gefunden'])
    }
    expect(await commitsSeenBy(server.database)).toEqual(before)
    expect(await heard(ada, room)).toMatchObject([{ content: 'mine', reactions: [] }])
  })
})

/** Opens rooms with members directly in the database; returns their IDs. */
async function openMany(count: number, ...members: Account[]): Promise<number[]> {
  const now = server.clock.now()
  const base = {
    type: 'channel' as const,
    created_by: ada.id,
    created_at: now,
    updated_at: now,
    version: 1,
    stamp: now,
  }
  return server.database.write('instance', async (tx) => {
    const rows = Array.from({ length: count }, (_, index) => ({ ...base, name: `Room ${index}`, pair: null }))
    const made = await tx.q.insertInto('rooms').values(rows).returning('id').execute()
    for (const { id } of made)
      await insertMembers(
        tx,
        id,
        members.map((member) => member.id),
        now,
      )
    return made.map(({ id }) => id)
  })
}

describe('someone in many rooms', () => {
  test('gets all of them with their members, newest first', async () => {
    const ids = await openMany(130, ada, bob)
    const { rooms: shown } = await ada.ask(rooms, {})
    expect(shown.map(({ room_id }) => room_id)).toEqual(ids.sort((a, b) => b - a))
    const two = [personOf(ada), personOf(bob)]
    for (const room of shown)
      expect(room).toMatchObject({ participant_count: 2, participants: two, last_message: null, unread_count: 0 })
  })

  test('changes one without the others being read', async () => {
    const room_id = await channelOf(ada, bob)
    const [other] = await openMany(1, ada)
    // A room that cannot be shown.
    await server.database.write('instance', (tx) =>
      tx.q.updateTable('rooms').set({ created_at: 9e15 }).where('id', '=', other!).execute(),
    )
    expect((await make(ada, { participants: [bob.id] })).status).toBe(200)
    const invited = await ada.ask(invite, { room_id, user_ids: [cyd.id] })
    expect(invited.room.participants.map(({ id }) => id)).toEqual([ada.id, bob.id, cyd.id])
    const message = await say(bob, room_id, 'hello')
    const renamed = await ada.ask(rename_room, { room_id, name: 'Looms' })
    expect(renamed.room).toMatchObject({ name: 'Looms', last_message: message, unread_count: 1 })
    await server.database.write('instance', (tx) =>
      tx.q.updateTable('rooms').set({ created_at: 0 }).where('id', '=', other!).execute(),
    )
    expect(renamed.room).toEqual(await roomOf(ada, room_id))
  })

  test('opens a direct conversation that exists, also when no further room may be created', async () => {
    const direct = { type: 'dm' as const, participants: [bob.id] }
    const { room } = await ada.ask(create_room, { name: 'Bob', ...direct })
    await openMany(999, ada)
    expect((await make(ada, { participants: [] })).json['code']).toBe('quota_exceeded')
    expect((await make(ada, { type: 'dm', participants: [cyd.id] })).json['code']).toBe('quota_exceeded')
    expect((await make(ada, direct)).json['room']).toEqual(room)
  })
})
