import { beforeEach, describe, expect, test } from 'vitest'
import { teamChat } from '../../src/contract/team-chat.ts'
import { recordForMembers } from '../../src/storage/chat/room-feed.ts'
import type { Account } from '../support/account.ts'
import { channelOf, heard, reactTo, roomOf, say } from '../support/chat.ts'
import { serverOfFile } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const { send, edit, delete: remove, react, messages, search, invite, delete_room } = teamChat.actions

const server = await serverOfFile()

let ada: Account
let bob: Account
let cyd: Account
let room: number
beforeEach(async () => {
  server.clock.pass(1_000)
  ;[ada, bob, cyd] = [await server.account(), await server.account(), await server.account()]
  room = await channelOf(ada, bob)
  server.clock.pass(1_000)
})

const contents = (list: { content: string }[]) => list.map(({ content }) => content)
const refusal = async (reply: ReturnType<Account['call']>) => {
  const { status, json } = await reply
  return [status, json['code']]
}

/** Stores messages as fast as the database takes them. */
const fill = (author: Account, into: number, count: number) =>
  server.database.write('instance', async (tx) => {
    const start = server.clock.now() + 1
    for (let i = 0; i < count; i += 1) {
      const row = { room_id: into, user_id: author.id, content: `n ${i}`, timestamp: start + i }
      const { id } = await tx.q
        .insertInto('messages')
        .values({ ...row, edited_at: null, reply_to: null, version: 1, client_id: null })
        .returning('id')
        .executeTakeFirstOrThrow()
      const change = { table: 'svc_messages', row: id, deleted: false } as const
      await recordForMembers(tx, { id: into, feed_stamp: null }, change, start)
    }
    await tx.q
      .updateTable('rooms')
      .set({ stamp: start + count })
      .where('id', '=', into)
      .execute()
  })

describe('a message', () => {
  test('is answered as everybody reads it', async () => {
    const message = await say(ada, room, 'Good morning')
    expect(message).toEqual({
      message_id: expect.any(Number) as number,
      room_id: room,
      user_id: ada.id,
      username: ada.username,
      display_name: ada.username,
      avatar_color: '#336699',
      content: 'Good morning',
      timestamp: new Date(server.clock.now()).toISOString(),
      edited_at: null,
      is_assistant: false,
      reply_to: null,
      reactions: [],
    })
    expect(await heard(bob, room)).toEqual([message])
    expect(await heard(ada, room)).toEqual([message])
  })

  test.each([
    ['exactly 16 KiB', 'a'.repeat(16_384)],
    ['16 KiB in letters of two bytes', 'ä'.repeat(8_192)],
    ['a family', '👨‍👩‍👧‍👦'.repeat(600)],
    ['text from right to left', 'שלום עולם \u202eأهلا\u202c'],
    ['zero-width characters', 'a\u200b\u200d\ufeffb'],
    ['a letter and its mark, not made one', 'e\u0301'],
    ['a lone combining mark', '\u0301'],
    ['lines, tabs and bells', 'a\r\n\tb\u0007'],
    ['what looks like SQL and HTML', `'); drop table messages; -- <script>alert(1)</script>`],
    ['a mention', '@assistant hello'],
    ['a blank', ' '],
    ['noncharacters', '\ufffe\uffff'],
  ])('may be %s, and comes back the same', async (_, content) => {
    expect((await say(ada, room, content)).content).toBe(content)
    // A mention may be answered already.
    expect(contents(await heard(bob, room))[0]).toBe(content)
  })

  test.each([
    ['nothing', { content: '' }],
    ['a byte more than 16 KiB', { content: 'a'.repeat(16_385) }],
    ['more than 16 KiB in few letters', { content: 'ä'.repeat(8_193) }],
    ['a NUL', { content: 'a\0b' }],
    ['half an emoji', { content: '\ud83d' }],
    ['no text', { content: 5 }],
    ['no content', {}],
    ['a reply to a text', { content: 'x', reply_to: '1' }],
    ['an empty client_id', { content: 'x', client_id: '' }],
    ['a long client_id', { content: 'x', client_id: 'x'.repeat(101) }],
    ['a client_id with a NUL', { content: 'x', client_id: '\0' }],
  ])('may not be %s', async (_, params) => {
    const before = await commitsSeenBy(server.database)
    expect(await refusal(ada.call(send, { room_id: room, ...params }))).toEqual([400, 'bad_request'])
    expect(await commitsSeenBy(server.database)).toEqual(before)
  })

  test('may answer another one of its room, no other', async () => {
    const other = await channelOf(ada, cyd)
    const { message_id } = await say(bob, room, 'question')
    const elsewhere = await say(cyd, other, 'elsewhere')
    expect((await say(ada, room, 'answer', { reply_to: message_id })).reply_to).toBe(message_id)
    for (const reply_to of [elsewhere.message_id, 999_999_999]) {
      expect(await refusal(ada.call(send, { room_id: room, content: 'x', reply_to }))).toEqual([404, 'not_found'])
    }
    expect(await refusal(bob.call(send, { room_id: room, content: 'x', reply_to: elsewhere.message_id }))).toEqual([
      404,
      'not_found',
    ])
    expect(contents(await heard(ada, room))).toEqual(['question', 'answer'])
  })

  test('sent again under the same client_id is the first one', async () => {
    const first = await say(ada, room, 'once', { client_id: 'a-1' })
    server.clock.pass(5_000)
    expect(await say(ada, room, 'twice', { client_id: 'a-1' })).toEqual(first)
    await reactTo(bob, first.message_id, '👍')
    expect((await say(ada, room, 'thrice', { client_id: 'a-1' })).reactions).toMatchObject([
      { emoji: '👍', mine: false },
    ])
    // Another author, another room: another message.
    await say(bob, room, 'mine', { client_id: 'a-1' })
    await say(ada, await channelOf(ada), 'there', { client_id: 'a-1' })
    expect(contents(await heard(ada, room))).toEqual(['once', 'mine'])
  })

  test('sent many times at once under one client_id is one', async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) => say(ada, room, `try ${i}`, { client_id: 'same' })),
    )
    expect(new Set(replies.map(({ message_id }) => message_id)).size).toBe(1)
    expect(await heard(bob, room)).toHaveLength(1)
  })
})

test('messages sent at once have moments of their own, in the order in which they stand', async () => {
  const sent = await Promise.all(Array.from({ length: 60 }, (_, i) => say(i % 2 ? ada : bob, room, `at once ${i}`)))
  const list = await heard(ada, room, { limit: 200 })
  const moments = list.map(({ timestamp }) => timestamp)
  expect(new Set(moments).size).toBe(60)
  expect(moments).toEqual(moments.toSorted())
  expect(list.map(({ message_id }) => message_id)).toEqual(
    sent.map(({ message_id }) => message_id).toSorted((a, b) => a - b),
  )
})

test('a clock that goes back does not take messages with it', async () => {
  const first = await say(ada, room, 'one')
  server.clock.pass(-60_000)
  const second = await say(ada, room, 'two')
  server.clock.pass(60_000)
  expect(Date.parse(second.timestamp)).toBe(Date.parse(first.timestamp) + 1)
  expect(contents(await heard(bob, room))).toEqual(['one', 'two'])
})

describe('reading', () => {
  test('gives the last 50, and pages back without gap or repetition', async () => {
    await fill(bob, room, 120)
    const seen: string[] = []
    let before: string | undefined
    for (;;) {
      const page = await ada.ask(messages, { room_id: room, ...(before === undefined ? {} : { before }) })
      seen.unshift(...contents(page.messages))
      if (!page.has_more) break
      expect(page.messages).toHaveLength(50)
      before = page.messages[0]!.timestamp
    }
    expect(seen).toEqual(Array.from({ length: 120 }, (_, i) => `n ${i}`))
  })

  test('gives at most 200', async () => {
    await fill(bob, room, 201)
    const page = await ada.ask(messages, { room_id: room, limit: 9_999 })
    expect([page.messages.length, page.has_more]).toEqual([200, true])
    const { messages: rest, has_more } = await ada.ask(messages, { room_id: room, limit: 1 })
    expect([contents(rest), has_more]).toEqual([['n 200'], true])
  })

  test('says that there is no more when the page ends with the first one', async () => {
    await say(ada, room, 'only')
    expect((await ada.ask(messages, { room_id: room, limit: 1 })).has_more).toBe(false)
    const { timestamp } = (await heard(ada, room))[0]!
    expect(await ada.ask(messages, { room_id: room, before: timestamp })).toMatchObject({
      messages: [],
      has_more: false,
    })
  })

  test.each([
    { limit: 0 },
    { limit: -1 },
    { limit: 1.5 },
    { limit: 'x' },
    { before: 'yesterday' },
    { before: '' },
    { before: 17 },
  ])('refuses %j', async (more) => {
    expect(await refusal(ada.call(messages, { room_id: room, ...more }))).toEqual([400, 'bad_request'])
  })
})

describe('editing', () => {
  test('is for the author alone', async () => {
    const { message_id, timestamp } = await say(bob, room, 'teh')
    const admin = await server.account({ role: 'admin' })
    await ada.ask(invite, { room_id: room, user_ids: [admin.id] })
    for (const other of [ada, admin]) {
      expect(await refusal(other.call(edit, { message_id, content: 'x' }))).toEqual([403, 'forbidden'])
    }
    server.clock.pass(1_000)
    expect(await bob.ask(edit, { message_id, content: 'the' })).toEqual({ ok: true, message_id })
    const edited_at = new Date(server.clock.now()).toISOString()
    expect(await heard(ada, room)).toMatchObject([{ content: 'the', timestamp, edited_at }])
  })

  test('has the same limits as writing', async () => {
    const { message_id } = await say(bob, room, 'fine')
    for (const content of ['', 'ä'.repeat(8_193), 'a\0', '\ud83d']) {
      expect(await refusal(bob.call(edit, { message_id, content }))).toEqual([400, 'bad_request'])
    }
    expect(await refusal(bob.call(edit, { message_id: 999_999_999, content: 'x' }))).toEqual([404, 'not_found'])
    expect(await heard(bob, room)).toMatchObject([{ content: 'fine', edited_at: null }])
  })
})

describe('deleting', () => {
  test('is for the author, and for administrators in the room', async () => {
    const [one, two] = [await say(bob, room, 'one'), await say(bob, room, 'two')]
    const admin = await server.account({ role: 'admin' })
    expect(await refusal(ada.call(remove, { message_id: one.message_id }))).toEqual([403, 'forbidden'])
    expect(await refusal(admin.call(remove, { message_id: one.message_id }))).toEqual([404, 'not_found'])
    await bob.ask(remove, { message_id: one.message_id })
    expect(await refusal(bob.call(remove, { message_id: one.message_id }))).toEqual([404, 'not_found'])
    await ada.ask(invite, { room_id: room, user_ids: [admin.id] })
    await admin.ask(remove, { message_id: two.message_id })
    // Only what an administrator did to somebody else is in the log, without the text.
    const entries = await server.local.domain.instance.audit.list({ kinds: ['message.removed'], limit: 10 })
    expect(entries).toMatchObject([{ actor_id: admin.id, target: bob.username }])
    expect(entries[0]!.detail).toBe(JSON.stringify({ message: two.message_id, room }))
    expect(await heard(bob, room)).toEqual([])
    expect((await roomOf(bob, room))!.last_message).toBeNull()
  })

  test('leaves nothing of the text', async () => {
    const { message_id } = await say(bob, room, 'a deep secret')
    await reactTo(ada, message_id, '🤫')
    await bob.ask(remove, { message_id })
    const { q } = server.database.read
    expect(await q.selectFrom('messages').selectAll().where('room_id', '=', room).execute()).toEqual([])
    expect(await q.selectFrom('reactions').selectAll().where('message_id', '=', message_id).execute()).toEqual([])
    expect((await ada.ask(search, { query: 'secret', room_id: room })).messages).toEqual([])
  })

  test('keeps the answers to it', async () => {
    const { message_id } = await say(bob, room, 'question')
    await say(ada, room, 'answer', { reply_to: message_id })
    await bob.ask(remove, { message_id })
    expect(await heard(ada, room)).toMatchObject([{ content: 'answer', reply_to: message_id }])
  })
})

describe('reactions', () => {
  test('are added and taken back by each for oneself', async () => {
    const { message_id } = await say(bob, room, 'tea?')
    expect(await reactTo(ada, message_id, '👍')).toEqual({
      ok: true,
      message_id,
      added: true,
      reactions: [{ emoji: '👍', count: 1, user_ids: [ada.id], mine: true }],
    })
    await reactTo(ada, message_id, '❤️')
    expect((await reactTo(bob, message_id, '👍')).reactions).toEqual([
      { emoji: '👍', count: 2, user_ids: [ada.id, bob.id], mine: true },
      { emoji: '❤️', count: 1, user_ids: [ada.id], mine: false },
    ])
    expect(await reactTo(ada, message_id, '👍')).toMatchObject({ added: false })
    expect((await heard(bob, room))[0]).toMatchObject({
      edited_at: null,
      reactions: [
        { emoji: '❤️', mine: false },
        { emoji: '👍', count: 1, user_ids: [bob.id], mine: true },
      ],
    })
  })

  test.each(['', '👍👍', 'ok', ' ', '\u200b', '\0', '\ud83d', `a${'\u0301'.repeat(16)}`])(
    'are never %j',
    async (emoji) => {
      const { message_id } = await say(bob, room, 'tea?')
      expect(await refusal(ada.call(react, { message_id, emoji }))).toEqual([400, 'bad_request'])
      expect((await heard(ada, room))[0]!.reactions).toEqual([])
    },
  )

  test('are of at most 50 kinds', async () => {
    const { message_id } = await say(bob, room, 'tea?')
    const emoji = Array.from({ length: 51 }, (_, i) => String.fromCodePoint(0x1f600 + i))
    for (const one of emoji.slice(0, 50)) await reactTo(ada, message_id, one)
    expect(await refusal(ada.call(react, { message_id, emoji: emoji[50] }))).toEqual([400, 'too_many_operations'])
    expect(await reactTo(bob, message_id, emoji[0]!)).toMatchObject({ added: true })
    expect(await reactTo(ada, message_id, emoji[0]!)).toMatchObject({ added: false })
    expect(await refusal(ada.call(react, { message_id, emoji: emoji[50] }))).toEqual([400, 'too_many_operations'])
    expect((await heard(ada, room))[0]!.reactions).toHaveLength(50)
  })

  test('are at most 1000, and 1000 are read at once', async () => {
    const { message_id } = await say(bob, room, 'tea?')
    await server.database.write('instance', async (tx) => {
      const user = { avatar_color: '#000000', role: 'user' as const, password_hash: '-', quota_bytes: null }
      const stamps = { created_at: 0, updated_at: 0, disabled_at: null, last_login_at: null }
      for (let i = 0; i < 1_000; i += 1) {
        const name = `crowd-${i}`
        const { id } = await tx.q
          .insertInto('users')
          .values({ ...user, ...stamps, username: name, display_name: name })
          .returning('id')
          .executeTakeFirstOrThrow()
        const reaction = { message_id, user_id: id, emoji: i % 2 ? '👍' : '👎', created_at: i }
        await tx.q.insertInto('reactions').values(reaction).execute()
      }
      await tx.q.updateTable('messages').set({ changed_at: 1 }).where('id', '=', message_id).execute()
    })
    expect(await refusal(ada.call(react, { message_id, emoji: '👍' }))).toEqual([400, 'too_many_operations'])
    expect((await heard(ada, room))[0]!.reactions).toMatchObject([
      { emoji: '👎', count: 500, mine: false },
      { emoji: '👍', count: 500, mine: false },
    ])
    await server.database.write('instance', (tx) =>
      tx.q.deleteFrom('users').where('username', 'like', 'crowd-%').execute(),
    )
    expect(await reactTo(ada, message_id, '👍')).toMatchObject({ reactions: [{ emoji: '👍', count: 1, mine: true }] })
  })

  test('toggled many times at once end as they should', async () => {
    const { message_id } = await say(bob, room, 'tea?')
    const answers = await Promise.all(Array.from({ length: 11 }, () => reactTo(ada, message_id, '👍')))
    expect(answers.filter(({ added }) => added)).toHaveLength(6)
    expect((await heard(ada, room))[0]!.reactions).toMatchObject([{ emoji: '👍', count: 1 }])
  })
})

describe('a search', () => {
  const found = async (account: Account, query: string, room_id?: number) =>
    contents((await account.ask(search, { query, ...(room_id === undefined ? {} : { room_id }) })).messages)

  test.each([
    ['Straße', ['STRASSE', 'strasse', 'straße', 'raß'], ['STRAZE']],
    ['ÄÖÜ und mehr', ['äöü', 'ÄÖ', 'A\u0308ÖÜ', 'UND'], ['aou']],
    ['İstanbul', ['istanbul'.slice(1), 'i̇STANBUL', 'İ'], ['xstanbul']],
    ['ΟΔΟΣ', ['οδος', 'οδο', 'ΔΟΣ'], ['α']],
    ['100% of it', ['100%', '%', '0% O'], ['1%f', '%%', '100_']],
    ['snake_case', ['_', 'E_C'], ['snake%', 's____case']],
    ['C:\\temp\\%', ['c:\\TEMP', '\\', '\\%'], ['\\\\', 'c:temp']],
    ["it's “quoted”", ["'", '“QUOTED'], ['"']],
    ['👨‍👩‍👧‍👦 at home', ['👨‍👩‍👧‍👦', '👦 AT'], ['👶']],
  ])('in %s', async (content, hits, misses) => {
    await say(ada, room, content)
    await say(bob, room, 'zzzz')
    for (const query of hits) expect([query, await found(bob, query, room)]).toEqual([query, [content]])
    for (const query of misses) expect([query, await found(bob, query, room)]).toEqual([query, []])
  })

  test('finds the newest first in all rooms of the caller, and in no others', async () => {
    const other = await channelOf(ada, cyd)
    await say(ada, room, 'needle one')
    server.clock.pass(1_000)
    await say(cyd, other, 'needle two')
    server.clock.pass(1_000)
    await say(bob, room, 'NEEDLE three')
    expect(await found(ada, 'needle')).toEqual(['NEEDLE three', 'needle two', 'needle one'])
    expect(await found(bob, 'needle')).toEqual(['NEEDLE three', 'needle one'])
    expect(await found(cyd, 'needle')).toEqual(['needle two'])
    expect(await found(ada, 'needle', other)).toEqual(['needle two'])
    await ada.ask(delete_room, { room_id: room })
    expect(await found(bob, 'needle')).toEqual([])
  })

  test('finds what a message says now', async () => {
    const { message_id } = await say(ada, room, 'before')
    await ada.ask(edit, { message_id, content: 'AFTER' })
    expect([await found(bob, 'before'), await found(bob, 'after')]).toEqual([[], ['AFTER']])
  })

  test('gives at most 100', async () => {
    for (let i = 0; i < 101; i += 1) await say(i % 2 ? ada : bob, room, `straw ${i}`)
    const hits = await found(bob, 'straw')
    expect([hits.length, hits[0], hits.at(-1)]).toEqual([100, 'straw 100', 'straw 1'])
  })

  test('takes 1 to 200 characters', async () => {
    expect(await found(ada, '%'.repeat(200))).toEqual([])
    expect(await found(ada, '👍'.repeat(200))).toEqual([])
    for (const query of ['', 'a'.repeat(201), '👍'.repeat(201), 'a\0']) {
      expect(await refusal(ada.call(search, { query }))).toEqual([400, 'bad_request'])
    }
  })
})

test('a room deleted meanwhile takes no messages any more', async () => {
  const { message_id } = await say(bob, room, 'early')
  const [gone, ...replies] = await Promise.all([
    ada.call(delete_room, { room_id: room }),
    ...Array.from({ length: 10 }, () => bob.call(send, { room_id: room, content: 'late' })),
    bob.call(react, { message_id, emoji: '👍' }),
  ])
  expect(gone.status).toBe(200)
  for (const { status } of replies) expect([200, 403, 404]).toContain(status)
  expect(await refusal(bob.call(send, { room_id: room, content: 'late' }))).toEqual([403, 'forbidden'])
  const rows = await server.database.read.q.selectFrom('messages').select('id').where('room_id', '=', room).execute()
  expect(rows).toEqual([])
})
