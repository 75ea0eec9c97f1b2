import { beforeEach, describe, expect, test } from 'vitest'
import { desktopComponents } from '../../src/contract/desktop-components.ts'
import { teamChat } from '../../src/contract/team-chat.ts'
import type { Account, Change } from '../support/account.ts'
import { stage } from '../support/assistant.ts'
import { newUser, openBrowser, PASSWORD, signedIn } from '../support/browser.ts'
import { channelOf, heard, pollOf, reactTo, roomOf, say, unreadIn } from '../support/chat.ts'
import { sayMany } from '../support/many-messages.ts'
import { serverOfFile } from '../support/server.ts'

// Messages of a removed account that stay.

const { create_room, edit, delete: remove, invite, users, online, search, leave } = teamChat.actions
const FORMER = { username: 'Former user', display_name: 'Former user', is_former: true }

const server = await serverOfFile()
const accounts = () => server.local.domain.accounts
let ada: Account
let bob: Account
let cyd: Account
beforeEach(async () => {
  server.clock.pass(1_000)
  ;[ada, bob, cyd] = [await server.account(), await server.account(), await server.account()]
})

const removeKeeping = (account: Account) => accounts().remove(account.id, { keepMessages: true })

const expectSound = async () => expect((await server.local.domain.instance.storage.check()).problems).toEqual([])

/** Rooms and messages as a device knows them that follows the feed. */
function replicaOf(account: Account) {
  const rows = new Map<string, Change['data']>()
  let cursor = 0
  return {
    rows,
    async follow(): Promise<string[]> {
      const told: string[] = []
      for (let more = true; more;) {
        const page = await account.delta(cursor, { limit: 5_000 })
        for (const { table, operation, data } of page.changes) {
          const key = `${table} ${data.id}`
          told.push(`${operation} ${key}`)
          if (operation === 'DELETE') rows.delete(key)
          else rows.set(key, data)
        }
        ;({ cursor, has_more: more } = page)
      }
      return told
    },
    async expectWhole() {
      const { data } = await account.everything()
      const all = ['svc_rooms', 'svc_messages'].flatMap((table) =>
        data[table]!.map((row) => [`${table} ${row.id}`, row] as const),
      )
      expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(all))
    },
  }
}

/** Everything about the chat that somebody can be told, as text. */
const everythingOf = async (account: Account, room: number): Promise<string> =>
  JSON.stringify([
    await heard(account, room),
    await account.ask(teamChat.actions.rooms, {}),
    await account.ask(users, {}),
    await account.ask(teamChat.actions.members, { room_id: room }),
    (await account.everything()).data,
  ])

describe('messages of a removed account', () => {
  test('stay where they are, by a former user, and every device learns it', async () => {
    const room = await channelOf(bob, ada, cyd)
    const first = await say(ada, room, 'The engine weaves', { client_id: 'one' })
    const answer = await say(cyd, room, `@${ada.username} It does`, { reply_to: first.message_id })
    const last = await say(ada, room, 'algebraical patterns', { reply_to: answer.message_id })
    await reactTo(cyd, first.message_id, '👍')
    const replica = replicaOf(bob)
    await replica.follow()
    const { timestamp: after } = await pollOf(bob, room, last.timestamp)
    const unread = await unreadIn(bob, room)

    const plan = await accounts().planRemoval(ada.id, { keepMessages: true })
    expect(plan).toMatchObject({ has: { messages: 2 }, messages_kept: 2 })
    expect((await accounts().planRemoval(ada.id)).messages_kept).toBe(0)
    expect(await removeKeeping(ada)).toMatchObject({ had: { messages: 2 }, messages_kept: 2 })

    const messages = await heard(bob, room)
    expect(messages).toMatchObject([
      { message_id: first.message_id, content: 'The engine weaves', timestamp: first.timestamp, edited_at: null },
      { message_id: answer.message_id, user_id: cyd.id, reply_to: first.message_id },
      { message_id: last.message_id, content: 'algebraical patterns', reply_to: answer.message_id },
    ])
    expect(messages[0]).toMatchObject({ ...FORMER, reactions: [{ emoji: '👍', user_ids: [cyd.id] }] })
    expect(messages[1]).not.toHaveProperty('is_former')
    expect(messages[2]).toMatchObject(FORMER)
    expect(messages[0]!.user_id).not.toBe(ada.id)
    expect(await roomOf(bob, room)).toMatchObject({ participant_count: 2, last_message: FORMER })
    expect((await bob.ask(search, { query: 'WEAVES', room_id: room })).messages).toMatchObject([FORMER])
    expect(await unreadIn(bob, room)).toBe(unread)

    expect(await pollOf(bob, room, after)).toMatchObject({
      messages: [],
      changed: [
        { message_id: first.message_id, ...FORMER },
        { message_id: last.message_id, ...FORMER },
      ],
      deleted: [],
    })
    expect(await replica.follow()).toEqual([first, last].map((one) => `UPDATE svc_messages ${one.message_id}`))
    await replica.expectWhole()
    expect(replica.rows.get(`svc_messages ${first.message_id}`)).toEqual({
      id: first.message_id,
      room_id: room,
      user_id: messages[0]!.user_id,
      content: 'The engine weaves',
      timestamp: first.timestamp,
      edited_at: null,
      reply_to: null,
      version: 2,
    })
    const shown = (await everythingOf(bob, room)).replaceAll(`@${ada.username} `, '')
    expect(shown).not.toContain(`"${ada.username}"`)
    expect(shown).not.toContain(`"user_id":${ada.id},`)
    await expectSound()
  })

  test('wake who waits for news of the room, and change in pages when they are many', async () => {
    const room = await channelOf(bob, ada)
    await sayMany(server.database, { room, user: ada.id, count: 700, now: server.clock.now() })
    const { timestamp } = await pollOf(bob, room, new Date(server.clock.now() + 60_000).toISOString())
    const waiting = pollOf(bob, room, timestamp, 55)
    await removeKeeping(ada)
    await waiting
    const changed: number[] = []
    for (let after = timestamp; ;) {
      const page = await pollOf(bob, room, after)
      if (page.timestamp === after) break
      after = page.timestamp
      changed.push(...page.changed.map(({ message_id }) => message_id))
    }
    expect(changed).toHaveLength(700)
    expect(new Set(changed).size).toBe(700)
    await expectSound()
  })

  test('belong to nobody else: a new account of the same name has none, and those of two are not told apart', async () => {
    const room = await channelOf(cyd, ada, bob)
    const one = await say(ada, room, 'by one', { client_id: 'same' })
    const two = await say(bob, room, 'by two', { client_id: 'same' })
    await removeKeeping(ada)
    await removeKeeping(bob)
    await expect(removeKeeping(ada)).rejects.toMatchObject({ code: 'not_found' })
    const messages = await heard(cyd, room)
    expect(messages).toMatchObject([
      { ...FORMER, content: 'by one' },
      { ...FORMER, content: 'by two' },
    ])
    expect(messages[0]!.user_id).toBe(messages[1]!.user_id)

    const again = await server.account({ username: ada.username })
    await cyd.ask(invite, { room_id: room, user_ids: [again.id] })
    expect((await again.call(edit, { message_id: one.message_id, content: 'mine' })).status).toBe(403)
    expect((await again.call(remove, { message_id: two.message_id })).status).toBe(403)
    expect((await accounts().planRemoval(again.id)).has.messages).toBe(0)
    // What a removed account called its message is free as well.
    expect((await say(again, room, 'new', { client_id: 'same' })).message_id).not.toBe(one.message_id)
    await expectSound()
  })

  test('are edited by nobody, and deleted by administrators in the room', async () => {
    const root = await server.account({ role: 'admin' })
    const room = await channelOf(bob, ada, root)
    const { message_id } = await say(ada, room, 'secret')
    await removeKeeping(ada)
    const message = { message_id }
    for (const account of [bob, root]) expect((await account.call(edit, { ...message, content: 'x' })).status).toBe(403)
    expect((await bob.call(remove, message)).status).toBe(403)
    expect((await reactTo(bob, message_id, '👀')).added).toBe(true)
    const replica = replicaOf(bob)
    await replica.follow()
    await root.ask(remove, message)
    expect(await heard(bob, room)).toEqual([])
    expect(await replica.follow()).toEqual([`DELETE svc_messages ${message_id}`])
    await expectSound()
  })

  test('go with rooms that nobody else is in, and stay in rooms that the account had left', async () => {
    const alone = await channelOf(ada)
    await say(ada, alone, 'to myself')
    const left = await channelOf(bob, ada)
    await say(ada, left, 'good bye')
    await ada.ask(leave, { room_id: left })
    expect(await accounts().planRemoval(ada.id, { keepMessages: true })).toMatchObject({
      has: { messages: 2, rooms: 1, rooms_alone: 1 },
      messages_kept: 1,
    })
    expect((await removeKeeping(ada)).messages_kept).toBe(1)
    expect(await heard(bob, left)).toMatchObject([FORMER])
    const { q } = server.database.read
    expect(await q.selectFrom('rooms').select('id').where('id', '=', alone).execute()).toEqual([])
    await expectSound()
  })

  test('keep a direct conversation, which no longer names the other one, and which ends with the second', async () => {
    const name = `${bob.username}, ${ada.username}`
    const { room } = await bob.ask(create_room, { name, type: 'dm', participants: [ada.id] })
    await say(ada, room.room_id, 'hello')
    await say(bob, room.room_id, 'hello yourself')
    const replica = replicaOf(bob)
    await replica.follow()
    await removeKeeping(ada)
    expect(await roomOf(bob, room.room_id)).toMatchObject({ name: 'Former user', type: 'dm', participant_count: 1 })
    await replica.follow()
    await replica.expectWhole()
    expect(await everythingOf(bob, room.room_id)).not.toContain(ada.username)
    await expectSound()
    expect((await removeKeeping(bob)).messages_kept).toBe(0)
    await expectSound()
  })

  test('are none for an account without any, with and without rooms', async () => {
    const room = await channelOf(bob, ada)
    expect((await removeKeeping(ada)).messages_kept).toBe(0)
    expect(await roomOf(bob, room)).toMatchObject({ participant_count: 1 })
    expect((await removeKeeping(cyd)).messages_kept).toBe(0)
    await expectSound()
  })

  test('count for nobody who is left, and their counts come right when they are repaired', async () => {
    const room = await channelOf(bob, ada)
    await say(ada, room, 'x'.repeat(5_000))
    await removeKeeping(ada)
    const { domain } = server.local
    const holding = (await domain.instance.usage.report()).accounts.find(({ username }) => username === bob.username)
    expect(holding!.chat_bytes).toBe(0)
    await server.database.write('instance', (tx) =>
      tx.q.updateTable('data_usage').set({ bytes: 1 }).where('kind', '=', 'chat').execute(),
    )
    await domain.instance.storage.check({ repair: true })
    await expectSound()
  })

  test('go as before where nobody asks to keep them', async () => {
    const room = await channelOf(bob, ada)
    await say(ada, room, 'gone')
    expect(await accounts().remove(ada.id)).toMatchObject({ had: { messages: 1 }, messages_kept: 0 })
    expect(await heard(bob, room)).toEqual([])
  })
})

describe('the former user', () => {
  test('is no account: not listed, counted, met, invited, written to, signed in or removed', async () => {
    const room = await channelOf(bob, ada)
    const { message_id } = await say(ada, room, 'hello')
    const before = (await accounts().list()).length
    await removeKeeping(ada)
    const { user_id } = (await heard(bob, room)).find((one) => one.message_id === message_id)!
    const { domain } = server.local

    const listed = await accounts().list()
    expect(listed).toHaveLength(before - 1)
    expect(listed.map(({ id }) => id)).not.toContain(user_id)
    expect((await accounts().twoFactor.overview()).map(({ username }) => username)).not.toContain('Former user')
    expect((await domain.instance.usage.report()).accounts.map(({ username }) => username)).not.toContain('Former user')
    for (const action of [users, online])
      expect((await bob.ask(action, {})).users.map(({ id }: { id: number }) => id)).not.toContain(user_id)
    for (const name of ['Former user', 'former user'])
      await expect(accounts().byName(name)).rejects.toMatchObject({ code: 'not_found' })
    await expect(accounts().remove(user_id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(accounts().enable(user_id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(accounts().remove(cyd.id, { heir: user_id })).rejects.toMatchObject({ code: 'not_found' })
    await expect(accounts().mintToken(user_id, { ttl: 60_000, name: 'x' })).rejects.toMatchObject({ code: 'not_found' })
    expect((await bob.call(invite, { room_id: room, user_ids: [user_id] })).status).toBe(404)
    const dm = { name: 'x', type: 'dm', participants: [user_id] }
    expect((await bob.call(create_room, dm)).status).toBe(404)
    for (const username of ['Former user', 'former user'])
      for (const password of [PASSWORD, ''])
        expect((await openBrowser(server).login(username, password)).status).toBeGreaterThanOrEqual(400)
  })

  test('leaves no row of the removed account behind, nor its name in a table other than the log', async () => {
    const room = await channelOf(bob, ada)
    await say(ada, room, 'hello', { client_id: 'mine' })
    await ada.put('/a', 'a')
    await ada.ask(desktopComponents.actions.save, {
      component_id: 'theme',
      component_type: 'css',
      code: 'body {}',
      metadata: {},
    })
    await removeKeeping(ada)
    const { q } = server.database.read
    for (const table of [
      'messages',
      'reactions',
      'changes',
      'counters',
      'data_usage',
      'room_members',
      'nodes',
    ] as const)
      expect([table, await q.selectFrom(table).select('user_id').where('user_id', '=', ada.id).execute()]).toEqual([
        table,
        [],
      ])
    expect(await q.selectFrom('users').select('id').where('username', '=', ada.username).execute()).toEqual([])
    const [entry] = await server.local.domain.instance.audit.list({ user: ada.username, limit: 1 })
    expect(entry).toMatchObject({ kind: 'user.removed', target: ada.username, detail: '{"messages_kept":1}' })
  })
})

describe('many messages', () => {
  const count = 450

  test('pass on in steps while others write, and the account is refused from the first one on', async () => {
    const room = await channelOf(bob, ada)
    const other = await channelOf(bob, cyd)
    await sayMany(server.database, { room, user: ada.id, count, now: server.clock.now() })
    const replica = replicaOf(bob)
    await replica.follow()
    let isOver = false
    const removing = removeKeeping(ada).finally(() => (isOver = true))
    let said = 0
    while (!isOver) {
      await say(bob, said % 2 === 0 ? room : other, `meanwhile ${said}`)
      said += 1
    }
    expect(await removing).toMatchObject({ had: { messages: count, devices: 1 }, messages_kept: count })
    expect(said).toBeGreaterThan(0)
    await replica.follow()
    await replica.expectWhole()
    expect((await ada.call(users)).status).toBe(401)
    await expectSound()
  })

  test('of two accounts in two rooms pass on at the same moment', async () => {
    const rooms = [await channelOf(cyd, ada, bob), await channelOf(cyd, ada, bob)]
    for (const room of rooms)
      for (const { id } of [ada, bob])
        await sayMany(server.database, { room, user: id, count: 200, now: server.clock.now() })
    const removed = await Promise.all([removeKeeping(ada), removeKeeping(bob)])
    expect(removed.map(({ messages_kept }) => messages_kept)).toEqual([400, 400])
    await expectSound()
  })

  test('stay with an account that may not be removed, which is not disabled either', async () => {
    const room = await channelOf(bob, ada)
    await sayMany(server.database, { room, user: ada.id, count, now: server.clock.now() })
    await expect(accounts().remove(ada.id, { heir: ada.id, keepMessages: true })).rejects.toMatchObject({
      code: 'bad_request',
    })
    await expect(accounts().remove(ada.id, { heir: 999_999, keepMessages: true })).rejects.toMatchObject({
      code: 'not_found',
    })
    expect((await accounts().details(ada.username)).disabled_at).toBeNull()
    expect((await heard(bob, room)).at(-1)).toMatchObject({ user_id: ada.id })
  })
})

describe('what the assistant said for a removed account', () => {
  test('stays under its name, and what it was asked and did not answer yet stays unanswered', async () => {
    const { server, model, ada } = await stage()
    const { domain } = server.local
    const bob = await server.account()
    const room = await channelOf(bob, ada)
    model.will({ text: 'At nine.' })
    await say(ada, room, '@assistant when?')
    await domain.assistant.mentions.idle()
    let finish = () => {}
    model.will(() => ({ text: 'Too late.', until: new Promise<void>((resolve) => (finish = resolve)) }))
    const { timestamp } = await say(ada, room, '@assistant and where?')
    while (model.heard.length < 2) await pollOf(bob, room, timestamp)

    expect((await domain.accounts.remove(ada.id, { keepMessages: true })).messages_kept).toBe(3)
    expect((await pollOf(bob, room, timestamp)).typing).toEqual([])
    finish()
    await domain.assistant.mentions.idle()
    const messages = await heard(bob, room)
    expect(messages).toMatchObject([
      { ...FORMER, content: '@assistant when?', is_assistant: false },
      { username: 'assistant', display_name: 'Assistant', content: 'At nine.', is_assistant: true },
      { ...FORMER, content: '@assistant and where?' },
    ])
    expect(messages[1]).not.toHaveProperty('is_former')
    expect((await domain.instance.storage.check()).problems).toEqual([])
  })
})

test('an administrator chooses it in the action that removes a user, and sees before how many stay', async () => {
  const { username } = await newUser(server, 'admin')
  const browser = await signedIn(server, username)
  const room = await channelOf(bob, ada)
  await say(ada, room, 'hello')
  const plan = async (query: string) =>
    (await browser.get(`/api/admin.php?action=removal&user_id=${ada.id}${query}`)).json
  expect(await plan('')).toMatchObject({ has: { messages: 1 }, messages_kept: 0 })
  expect(await plan('&keep_messages=true')).toMatchObject({ has: { messages: 1 }, messages_kept: 1 })
  const body = { user_id: ada.id, keep_messages: true, current_password: PASSWORD }
  const removed = await browser.post('/api/admin.php?action=remove_user', body)
  expect(removed.json).toMatchObject({ had: { messages: 1 }, messages_kept: 1, handed_over: null })
  const { user_id } = (await heard(bob, room))[0]!
  expect((await browser.get(`/api/admin.php?action=user&user_id=${user_id}`)).status).toBe(404)
})
