import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { syncData } from '../../src/contract/sync-data.ts'
import { teamChat } from '../../src/contract/team-chat.ts'
import { endInFeeds, endMemberships } from '../../src/storage/chat/ended-memberships.ts'
import type { Account } from '../support/account.ts'
import { channelOf, pollOf, reactTo, roomOf, say, unreadIn } from '../support/chat.ts'
import { sayMany } from '../support/many-messages.ts'
import { serverOfFile } from '../support/server.ts'

// Rooms so large that the feeds of their members take over later what happens in them.

const { edit, delete: remove, leave, rename_room, delete_room } = teamChat.actions

const server = await serverOfFile()
const domain = () => server.local.domain

/** Members beside those of a test. */
const silent: Account[] = []
beforeAll(async () => {
  for (let index = 0; index < 32; index += 1) silent.push(await server.account())
})

let ada: Account
let bob: Account
let room: number
beforeEach(async () => {
  server.clock.pass(1_000)
  ;[ada, bob] = [await server.account(), await server.account()]
  room = await channelOf(ada, bob, ...silent)
})

const expectSound = async () => expect((await domain().instance.storage.check()).problems).toEqual([])

const namesOf = ({ changes }: Awaited<ReturnType<Account['delta']>>) =>
  changes.map(({ operation, table, data }) => `${operation} ${table} ${data.id}`)

async function feedOf({ id }: Account): Promise<{ head: number; entries: number }> {
  const { q } = server.database.read
  const { seq } = await q.selectFrom('counters').select('seq').where('user_id', '=', id).executeTakeFirstOrThrow()
  const entries = await q.selectFrom('changes').select('row_id').where('user_id', '=', id).execute()
  return { head: seq, entries: entries.length }
}

/** Adds messages to the room in one transaction; returns their texts. */
async function addMessages(many: number): Promise<string[]> {
  await server.database.write('instance', async (tx) => {
    const { stamp } = await tx.q.selectFrom('rooms').select('stamp').where('id', '=', room).executeTakeFirstOrThrow()
    const rows = Array.from({ length: many }, (__, index) => ({
      room_id: room,
      user_id: ada.id,
      content: `${index}`,
      folded: `${index}`,
      timestamp: stamp + 1 + index,
      version: 1,
      edited_at: null,
      reply_to: null,
      client_id: null,
    }))
    for (let first = 0; first < rows.length; first += 500)
      await tx.q
        .insertInto('messages')
        .values(rows.slice(first, first + 500))
        .execute()
    const end = stamp + rows.length
    await tx.q.updateTable('rooms').set({ stamp: end, feed_stamp: end }).where('id', '=', room).execute()
  })
  return Array.from({ length: many }, (__, index) => `${index}`)
}

/** The texts of the messages after a cursor, page by page. */
async function textsAfter(account: Account, begin: number): Promise<unknown[]> {
  const texts: unknown[] = []
  for (let [cursor, more] = [begin, true]; more;) {
    const page = await account.delta(cursor, { limit: 1_000 })
    texts.push(...page.changes.flatMap(({ table, data }) => (table === 'svc_messages' ? [data['content']] : [])))
    ;({ cursor, has_more: more } = page)
  }
  return texts
}

describe('a message to a large room', () => {
  test('is written once, whoever is a member, and each of them gets it', async () => {
    const before = await Promise.all([bob, ...silent].map(feedOf))
    const { message_id } = await say(ada, room, 'hello')
    expect(await Promise.all([bob, ...silent].map(feedOf))).toEqual(before)
    await expectSound()
    for (const member of [ada, bob, ...silent]) {
      const page = await member.delta(0)
      expect(namesOf(page)).toContain(`INSERT svc_messages ${message_id}`)
      expect(page.has_more).toBe(false)
    }
    await expectSound()
  })

  test('is told to many members who ask at the same moment, once to each', async () => {
    const cursors = await Promise.all(silent.map(async (member) => (await member.delta(0)).cursor))
    const first = await say(ada, room, 'one')
    const second = await say(bob, room, 'two')
    const pages = await Promise.all(silent.map((member, index) => member.delta(cursors[index]!)))
    const both = [`INSERT svc_messages ${first.message_id}`, `INSERT svc_messages ${second.message_id}`]
    for (const [index, page] of pages.entries()) {
      expect(namesOf(page)).toEqual(both)
      expect(namesOf(await silent[index]!.delta(page.cursor))).toEqual([])
    }
  })

  test('wakes every member who waits for it', async () => {
    const members = [bob, ...silent]
    const waiting = await Promise.all(
      members.map(async (member) => {
        const { cursor } = await member.delta(0)
        return { page: member.ask(syncData.actions.delta, { cursor, wait: 55 }) }
      }),
    )
    const { message_id } = await say(ada, room, 'hello')
    for (const { page } of waiting) expect((await page).changes).toMatchObject([{ data: { id: message_id } }])
  })

  test('does not wake anybody again, and neither do reactions', async () => {
    const { message_id } = await say(ada, room, 'hello')
    const { cursor } = await bob.delta(0)
    await reactTo(ada, message_id, '👍')
    const page = await bob.delta(cursor, { wait: 1 })
    expect(page).toMatchObject({ changes: [], cursor })
  })

  test('is among the rows or after their cursor, never both', async () => {
    const first = await say(ada, room, 'one')
    const { data, cursor } = await bob.everything()
    expect(data['svc_messages']).toMatchObject([{ id: first.message_id }])
    const second = await say(ada, room, 'two')
    expect(namesOf(await bob.delta(cursor))).toEqual([`INSERT svc_messages ${second.message_id}`])
  })

  test('counts as unread and is shown by the room, before the feed is read', async () => {
    const message = await say(ada, room, 'hello')
    expect(await unreadIn(bob, room)).toBe(1)
    expect((await roomOf(bob, room))?.last_message).toMatchObject({ message_id: message.message_id })
    expect((await pollOf(bob, room, '2020-01-01T00:00:00.000Z')).messages).toMatchObject([{ content: 'hello' }])
  })

  test('is in the feed after what the same account pushed before, and before what it pushes next', async () => {
    const insert = (title: string) => ({ operation: 'INSERT', table: 'svc_notes', data: { title } }) as const
    const { cursor } = await bob.delta(0)
    const pushed = await bob.push(insert('before'))
    const { message_id } = await say(ada, room, 'between')
    const page = await bob.delta(pushed.cursor)
    expect(namesOf(page)).toEqual([`INSERT svc_messages ${message_id}`])
    const next = await bob.push(insert('after'))
    expect(next.cursor).toBeGreaterThan(page.cursor)
    expect((await bob.delta(cursor)).changes.map(({ table }) => table)).toEqual([
      'svc_notes',
      'svc_messages',
      'svc_notes',
    ])
  })
})

describe('a large room', () => {
  test('ends for whoever leaves before reading, with all that the feed has of it', async () => {
    const read = await say(ada, room, 'read')
    const deleted = await say(ada, room, 'deleted')
    const { cursor } = await bob.delta(0)
    await say(ada, room, 'unread')
    await ada.ask(remove, { message_id: deleted.message_id })
    await bob.ask(leave, { room_id: room })
    expect(namesOf(await bob.delta(cursor))).toEqual([
      `DELETE svc_messages ${read.message_id}`,
      `DELETE svc_messages ${deleted.message_id}`,
      `DELETE svc_rooms ${room}`,
    ])
    await expectSound()
  })

  test('changes for everybody in the order in which it happened', async () => {
    const [one, two, three] = [await say(ada, room, '1'), await say(ada, room, '2'), await say(ada, room, '3')]
    const { cursor } = await bob.delta(0)
    await ada.ask(edit, { message_id: two.message_id, content: '2!' })
    await ada.ask(rename_room, { room_id: room, name: 'Looms' })
    await ada.ask(remove, { message_id: one.message_id })
    const brief = await say(ada, room, 'brief')
    await ada.ask(remove, { message_id: brief.message_id })
    await ada.ask(edit, { message_id: three.message_id, content: '3!' })
    await expectSound()
    const page = await bob.delta(cursor)
    expect(namesOf(page)).toEqual([
      `UPDATE svc_messages ${two.message_id}`,
      `UPDATE svc_rooms ${room}`,
      `DELETE svc_messages ${one.message_id}`,
      `UPDATE svc_messages ${three.message_id}`,
    ])
    expect(page.changes.map(({ data }) => data['content'] ?? data['name'])).toEqual(['2!', 'Looms', undefined, '3!'])
    await expectSound()
  })

  test('that came and went while a feed was behind leaves no page that leads nowhere', async () => {
    const admin = await server.account({ role: 'admin' })
    room = await channelOf(ada, bob, admin, ...silent)
    const { cursor } = await bob.delta(0)
    const { message_id } = await say(ada, room, 'hello')
    // Every feed gets a position for the new author, and that of a member who is behind stays empty.
    await domain().accounts.remove(ada.id, { keepMessages: true })
    await admin.ask(remove, { message_id })
    const page = await bob.delta(cursor)
    expect([page.changes, page.has_more, page.cursor > cursor]).toEqual([[], false, true])
    expect(await bob.delta(page.cursor)).toMatchObject({ changes: [], has_more: false, cursor: page.cursor })
    await expectSound()
  })

  test('ends for everybody when it is deleted, whatever they had read', async () => {
    const one = await say(ada, room, 'one')
    const { cursor } = await bob.delta(0)
    await say(ada, room, 'two')
    await ada.ask(delete_room, { room_id: room })
    expect(namesOf(await bob.delta(cursor))).toEqual([
      `DELETE svc_messages ${one.message_id}`,
      `DELETE svc_rooms ${room}`,
    ])
    await expectSound()
  })

  test.each([
    ['kept', true],
    ['deleted', false],
  ])('tells of an account that is removed: its messages are %s', async (_, keepMessages) => {
    const cyd = await server.account()
    await ada.ask(teamChat.actions.invite, { room_id: room, user_ids: [cyd.id] })
    const read = await say(cyd, room, 'read')
    const { cursor } = await bob.delta(0)
    const unread = await say(cyd, room, 'unread')
    await domain().accounts.remove(cyd.id, { keepMessages })
    await expectSound()
    const { changes, cursor: end } = await bob.delta(cursor)
    const ids = changes.map(({ operation, data }) => `${operation} ${data.id}`)
    expect(ids.sort()).toEqual(
      (keepMessages
        ? [`UPDATE ${read.message_id}`, `INSERT ${unread.message_id}`]
        : [`DELETE ${read.message_id}`]
      ).sort(),
    )
    for (const { operation, data } of changes) if (operation !== 'DELETE') expect(data['user_id']).not.toBe(cyd.id)
    expect((await bob.delta(end)).changes).toEqual([])
    await expectSound()
  })

  test('takes over many messages in parts, in their order', async () => {
    const { cursor } = await bob.delta(0)
    const texts = await addMessages(2_500)
    expect(await textsAfter(bob, cursor)).toEqual(texts)
    await expectSound()
  })

  test('comes with all its messages to whoever joins, and again to whoever comes back', async () => {
    const [cyd, dan] = [await server.account(), await server.account()]
    const one = await say(ada, room, 'one')
    await ada.ask(remove, { message_id: (await say(ada, room, 'gone')).message_id })
    const invite = () => ada.ask(teamChat.actions.invite, { room_id: room, user_ids: [cyd.id, dan.id] })
    const before = await cyd.delta(0)
    await invite()
    expect((await feedOf(cyd)).entries).toBe(1)
    await expectSound()
    await ada.ask(edit, { message_id: one.message_id, content: 'one!' })
    await say(ada, room, 'two')
    const { changes, cursor } = await cyd.delta(before.cursor)
    expect(changes.map(({ data }) => data['content'] ?? data['name'])).toEqual(['Engines', 'one!', 'two'])
    expect((await dan.everything()).data['svc_messages']).toMatchObject([{ content: 'one!' }, { content: 'two' }])
    await cyd.ask(leave, { room_id: room })
    await say(ada, room, 'not for cyd')
    const left = await cyd.delta(cursor)
    expect(left.changes.map(({ operation }) => operation)).toEqual(['DELETE', 'DELETE', 'DELETE'])
    await invite()
    expect((await cyd.delta(left.cursor)).changes.map(({ data }) => data['content'] ?? data['name'])).toEqual([
      'Engines',
      'one!',
      'two',
      'not for cyd',
    ])
    await expectSound()
  })

  test('is entered again for whoever comes back while leaving is unfinished, in few steps', async () => {
    const texts = await addMessages(1_200)
    const { cursor } = await bob.everything()
    // A server that was killed leaves it like this.
    await server.database.write('instance', async (tx) => {
      await endMemberships(tx, { room, user: bob.id })
      await endInFeeds(tx, { users: [bob.id], room }, 500, server.clock.now())
    })
    await expectSound()
    const { head } = await feedOf(bob)
    const { messages } = await ada.ask(teamChat.actions.messages, { room_id: room, limit: 2 })
    await ada.ask(remove, { message_id: messages[0]!.message_id })
    await ada.ask(edit, { message_id: messages[1]!.message_id, content: 'edited' })
    await ada.ask(teamChat.actions.invite, { room_id: room, user_ids: [bob.id] })
    expect((await feedOf(bob)).head).toBe(head + 1)
    await expectSound()
    const kept = [...texts.slice(0, -2), 'edited']
    const entered = await textsAfter(bob, cursor)
    expect([entered.slice(0, kept.length), entered.slice(kept.length)]).toEqual([kept, [undefined]])
    await expectSound()
    await domain().chat.finishRemovals()
    expect((await bob.everything()).data['svc_messages']).toHaveLength(kept.length)
    await ada.ask(delete_room, { room_id: room })
  })

  test('is cleaned up only when every feed knows of what was deleted', async () => {
    const { message_id } = await say(ada, room, 'gone')
    const { cursor } = await bob.delta(0)
    await ada.ask(remove, { message_id })
    server.clock.pass(400 * 86_400_000)
    bob = await bob.another()
    await domain().instance.storage.compact()
    // The tombstone is as young as the feed's knowledge of it.
    expect(namesOf(await bob.delta(cursor))).toEqual([`DELETE svc_messages ${message_id}`])
    const { q } = server.database.read
    expect(await q.selectFrom('deleted_messages').select('message_id').where('room_id', '=', room).execute()).toEqual(
      [],
    )
  })
})

describe('a room of a few with many messages', () => {
  test('becomes large when others join, who take the messages over', async () => {
    room = await channelOf(ada, bob)
    const first = await say(ada, room, 'first')
    const { cursor } = await bob.delta(0)
    await sayMany(server.database, { room, user: ada.id, count: 1_100, now: server.clock.now() })
    const cyd = await server.account()
    await ada.ask(teamChat.actions.invite, { room_id: room, user_ids: [cyd.id] })
    expect((await feedOf(cyd)).entries).toBe(1)
    expect(await textsAfter(cyd, 0)).toEqual([
      'first',
      ...Array.from({ length: 1_100 }, (_, index) => `Thought ${index + 1}`),
    ])
    const last = await say(bob, room, 'last')
    expect((await textsAfter(bob, cursor)).at(-1)).toBe('last')
    expect((await cyd.everything()).data['svc_messages']).toHaveLength(1_102)
    await ada.ask(remove, { message_id: first.message_id })
    await bob.ask(edit, { message_id: last.message_id, content: 'edited' })
    expect((await textsAfter(cyd, 0)).at(-1)).toBe('edited')
    await expectSound()
  })
})
