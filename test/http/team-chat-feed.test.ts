import { beforeEach, describe, expect, test } from 'vitest'
import { syncData } from '../../src/contract/sync-data.ts'
import { teamChat } from '../../src/contract/team-chat.ts'
import type { Account, Change } from '../support/account.ts'
import { channelOf, pollOf, reactTo, roomOf, say } from '../support/chat.ts'
import { serverOfFile } from '../support/server.ts'

const {
  edit,
  delete: remove,
  invite,
  leave,
  remove_participant,
  rename_room,
  delete_room,
  create_room,
} = teamChat.actions

const server = await serverOfFile()

let ada: Account
let bob: Account
let cyd: Account
beforeEach(async () => {
  server.clock.pass(1_000)
  ;[ada, bob, cyd] = [await server.account(), await server.account(), await server.account()]
})

/** A client that takes the feed over, as it is told it. */
function follower(account: Account) {
  const rows = new Map<string, Record<string, unknown>>()
  let cursor = 0
  return {
    rows,
    /** What is new, as `INSERT svc_rooms 3`. */
    async news(): Promise<string[]> {
      const page = await account.delta(cursor)
      cursor = page.cursor
      return page.changes.map(take)
    },
  }
  function take({ table, operation, data }: Change): string {
    const key = `${table} ${data.id}`
    if (operation === 'DELETE') rows.delete(key)
    else rows.set(key, data)
    return `${operation} ${key}`
  }
}

/** Whether a follower has exactly what a client that begins now gets. */
async function expectWhole(account: Account, { rows }: ReturnType<typeof follower>) {
  const { data } = await account.everything()
  const all = ['svc_rooms', 'svc_messages'].flatMap((table) => data[table]!.map((row) => [`${table} ${row.id}`, row]))
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(all))
}

describe('the feed', () => {
  test('shows rooms and messages to each member, as they come, change and go', async () => {
    const [a, b, c] = [follower(ada), follower(bob), follower(cyd)]
    const both = async () => {
      const [seen, alsoSeen] = [await a.news(), await b.news()]
      expect(alsoSeen).toEqual(seen)
      return seen
    }
    const room = await channelOf(ada, bob)
    expect(await both()).toEqual([`INSERT svc_rooms ${room}`])
    expect(a.rows.get(`svc_rooms ${room}`)).toMatchObject({ name: 'Engines', type: 'channel', created_by: ada.id })

    const { message_id, timestamp } = await say(bob, room, 'hello')
    expect(await both()).toEqual([`INSERT svc_messages ${message_id}`])
    expect(a.rows.get(`svc_messages ${message_id}`)).toMatchObject({
      room_id: room,
      user_id: bob.id,
      content: 'hello',
      timestamp,
      edited_at: null,
      version: 1,
    })

    await bob.ask(edit, { message_id, content: 'hello!' })
    expect(await both()).toEqual([`UPDATE svc_messages ${message_id}`])
    expect(b.rows.get(`svc_messages ${message_id}`)).toMatchObject({ content: 'hello!', version: 2 })

    await ada.ask(rename_room, { room_id: room, name: 'Looms' })
    expect(await both()).toEqual([`UPDATE svc_rooms ${room}`])
    expect(b.rows.get(`svc_rooms ${room}`)).toMatchObject({ name: 'Looms', version: 2 })

    await expectWhole(ada, a)
    await expectWhole(bob, b)
    await bob.ask(remove, { message_id })
    expect(await both()).toEqual([`DELETE svc_messages ${message_id}`])

    const last = await say(ada, room, 'last')
    await both()
    await ada.ask(delete_room, { room_id: room })
    expect(await both()).toEqual([`DELETE svc_messages ${last.message_id}`, `DELETE svc_rooms ${room}`])
    expect(a.rows.size).toBe(0)
    expect(await c.news()).toEqual([])
  })

  test('says nothing of reactions, reading and typing, which are not in it', async () => {
    const room = await channelOf(ada, bob)
    const { message_id } = await say(bob, room, 'hello')
    const a = follower(ada)
    await a.news()
    await reactTo(bob, message_id, '👍')
    await bob.ask(teamChat.actions.typing, { room_id: room })
    await ada.ask(teamChat.actions.read, { room_id: room })
    await ada.ask(teamChat.actions.presence, { room_id: room })
    expect(await a.news()).toEqual([])
  })

  test('shows whoever joins the room and what was said in it, in that order', async () => {
    const [a, c] = [follower(ada), follower(cyd)]
    const room = await channelOf(ada, bob)
    const gone = await say(bob, room, 'gone')
    const one = await say(bob, room, 'one')
    const two = await say(ada, room, 'two')
    await bob.ask(remove, { message_id: gone.message_id })
    await a.news()
    await ada.ask(invite, { room_id: room, user_ids: [cyd.id, bob.id] })
    expect(await c.news()).toEqual([
      `INSERT svc_rooms ${room}`,
      `INSERT svc_messages ${one.message_id}`,
      `INSERT svc_messages ${two.message_id}`,
    ])
    expect(await a.news()).toEqual([])
    await expectWhole(cyd, c)
  })

  test.each([
    ['leaves', (room: number) => bob.ask(leave, { room_id: room })],
    ['is taken out', (room: number) => ada.ask(remove_participant, { room_id: room, user_id: bob.id })],
  ])('takes it all from whoever %s, and gives it back with the next invitation', async (_, goes) => {
    const [a, b] = [follower(ada), follower(bob)]
    const room = await channelOf(ada, bob)
    const { message_id } = await say(ada, room, 'one')
    await a.news()
    await b.news()
    await goes(room)
    const unseen = await say(ada, room, 'unseen')
    expect(await b.news()).toEqual([`DELETE svc_messages ${message_id}`, `DELETE svc_rooms ${room}`])
    expect(b.rows.size).toBe(0)
    await expectWhole(bob, b)
    expect(await a.news()).toEqual([`INSERT svc_messages ${unseen.message_id}`])
    await ada.ask(invite, { room_id: room, user_ids: [bob.id] })
    expect(await b.news()).toEqual([
      `INSERT svc_rooms ${room}`,
      `INSERT svc_messages ${message_id}`,
      `INSERT svc_messages ${unseen.message_id}`,
    ])
    await expectWhole(bob, b)
  })

  test('never tells a client that begins in between what it may not see', async () => {
    const room = await channelOf(ada, bob)
    await say(ada, room, 'secret')
    await bob.ask(leave, { room_id: room })
    const { changes } = await bob.delta(0)
    expect(changes.every(({ operation }) => operation === 'DELETE')).toBe(true)
    expect(JSON.stringify(changes)).not.toContain('secret')
  })

  test('loses what somebody wrote whose account is removed, and so do polls', async () => {
    const a = follower(ada)
    const room = await channelOf(ada, bob)
    const alone = await channelOf(cyd)
    const stays = await say(ada, room, 'stays')
    const one = await say(bob, room, 'one')
    const two = await say(bob, room, 'two')
    await ada.ask(invite, { room_id: room, user_ids: [cyd.id] })
    const left = await say(cyd, room, 'said before leaving')
    await cyd.ask(leave, { room_id: room })
    await a.news()
    const after = left.timestamp
    await server.local.domain.accounts.remove(bob.id)
    await server.local.domain.accounts.remove(cyd.id)
    const gone = [one, two, left].map(({ message_id }) => message_id)
    expect(await a.news()).toEqual(gone.map((id) => `DELETE svc_messages ${id}`))
    await expectWhole(ada, a)
    expect(await pollOf(ada, room, after)).toMatchObject({ messages: [], changed: [], deleted: gone })
    expect(await roomOf(ada, room)).toMatchObject({ participant_count: 1, last_message: stays })
    const { q } = server.database.read
    expect(await q.selectFrom('rooms').select('id').where('id', '=', alone).execute()).toEqual([])
  })

  test('shows an existing dm no second time', async () => {
    const [a, b] = [follower(ada), follower(bob)]
    const dm = { name: 'Us', type: 'dm' as const, participants: [bob.id] }
    const { room } = await ada.ask(create_room, dm)
    await ada.ask(create_room, dm)
    expect([await a.news(), await b.news()]).toEqual([
      [`INSERT svc_rooms ${room.room_id}`],
      [`INSERT svc_rooms ${room.room_id}`],
    ])
  })

  test('wakes every member who waits for it', async () => {
    const room = await channelOf(ada, bob)
    const [{ cursor: at }, { cursor: of }] = [await ada.delta(0), await bob.delta(0)]
    const started = performance.now()
    const waiting = [
      ada.ask(syncData.actions.delta, { cursor: at, wait: 55 }),
      bob.ask(syncData.actions.delta, { cursor: of, wait: 55 }),
    ]
    await new Promise((resolve) => setTimeout(resolve, 50))
    await say(ada, room, 'hello')
    for (const page of await Promise.all(waiting)) expect(page.changes).toMatchObject([{ data: { content: 'hello' } }])
    expect(performance.now() - started).toBeLessThan(55_000)
  })

  test('is whole for everybody after many things at once', async () => {
    const all = [ada, bob, cyd]
    const followers = all.map(follower)
    const room = await channelOf(ada, bob, cyd)
    const sent = await Promise.all(all.flatMap((who) => Array.from({ length: 10 }, (_, i) => say(who, room, `n ${i}`))))
    await Promise.all([
      ...sent.slice(0, 10).map(({ message_id }) => ada.call(remove, { message_id })),
      ...sent.slice(5, 15).map(({ message_id }) => ada.call(edit, { message_id, content: 'x' })),
      cyd.call(leave, { room_id: room }),
      ...Array.from({ length: 5 }, () => bob.call(teamChat.actions.send, { room_id: room, content: 'more' })),
      ada.call(rename_room, { room_id: room, name: 'Looms' }),
    ])
    await ada.ask(invite, { room_id: room, user_ids: [cyd.id] })
    for (const [i, who] of all.entries()) {
      await followers[i]!.news()
      await expectWhole(who, followers[i]!)
    }
    const ids = followers.map(({ rows }) => [...rows.keys()].sort())
    expect(ids[0]!.length).toBeGreaterThan(20)
    expect([ids[1], ids[2]]).toEqual([ids[0], ids[0]])
  })
})
