import { beforeEach, describe, expect, test } from 'vitest'
import { DAY } from '../../src/base/clock.ts'
import { teamChat } from '../../src/contract/team-chat.ts'
import { openLocal } from '../../src/wiring/local-domain.ts'
import type { Account } from '../support/account.ts'
import { channelOf, heard, pollOf, reactTo, say, type Polled } from '../support/chat.ts'
import { makeRandom } from '../support/random.ts'
import { serverOfTest, serverOfFile, startServer, type TestServer } from '../support/server.ts'

const { poll, edit, delete: remove, react, typing, leave, remove_participant, delete_room } = teamChat.actions

const LONG_AGO = '1970-01-01T00:00:00.000Z'

const server = await serverOfFile()

let ada: Account
let bob: Account
let room: number
beforeEach(async () => {
  server.clock.pass(10_000)
  ;[ada, bob] = [await server.account(), await server.account()]
  room = await channelOf(ada, bob)
  server.clock.pass(1_000)
})

const contents = (list: { content: string }[]) => list.map(({ content }) => content)
const momentOf = async (account: Account) => (await pollOf(account, room, LONG_AGO)).timestamp

describe('a poll', () => {
  test('tells what is new since a moment, and the moment to ask from next', async () => {
    const first = await say(ada, room, 'one')
    const second = await say(bob, room, 'two')
    const all = await pollOf(bob, room, LONG_AGO)
    expect(all).toEqual({
      ok: true,
      messages: [first, second],
      changed: [],
      deleted: [],
      typing: [],
      timestamp: second.timestamp,
    })
    expect(contents((await pollOf(bob, room, first.timestamp)).messages)).toEqual(['two'])
    expect(await pollOf(bob, room, all.timestamp)).toEqual({ ...all, messages: [] })
  })

  test('tells what changed of what was told before, and not again what is new', async () => {
    const { message_id, timestamp } = await say(ada, room, 'old')
    const other = await say(ada, room, 'other')
    const after = await momentOf(bob)
    const fresh = await say(ada, room, 'new')
    await ada.ask(edit, { message_id, content: 'old, mended' })
    await reactTo(bob, fresh.message_id, '👍')
    await reactTo(bob, other.message_id, '🙂')
    const told = await pollOf(bob, room, after)
    expect(told.messages).toMatchObject([{ message_id: fresh.message_id, reactions: [{ emoji: '👍', mine: true }] }])
    expect(told.changed).toMatchObject([
      { message_id, content: 'old, mended', timestamp },
      { message_id: other.message_id, reactions: [{ emoji: '🙂', mine: true }] },
    ])
    expect((await pollOf(ada, room, after)).changed[1]!.reactions).toMatchObject([{ emoji: '🙂', mine: false }])
    expect(await pollOf(bob, room, told.timestamp)).toMatchObject({ messages: [], changed: [], deleted: [] })
    await reactTo(bob, other.message_id, '🙂')
    expect((await pollOf(bob, room, told.timestamp)).changed).toMatchObject([{ reactions: [] }])
  })

  test('tells what was deleted', async () => {
    const { message_id } = await say(ada, room, 'old')
    const after = await momentOf(bob)
    await ada.ask(remove, { message_id })
    const told = await pollOf(bob, room, after)
    expect(told).toMatchObject({ messages: [], changed: [], deleted: [message_id] })
    expect((await pollOf(bob, room, told.timestamp)).deleted).toEqual([])
  })

  test('forgets deletions with the other tombstones', async () => {
    const own = await serverOfTest()
    const [author, remembered] = [
      await own.account(),
      () => own.database.read.q.selectFrom('deleted_messages').select('message_id').execute(),
    ]
    const { message_id } = await say(author, await channelOf(author), 'old')
    await author.ask(remove, { message_id })
    await own.local.domain.instance.upkeep()
    expect(await remembered()).toEqual([{ message_id }])
    for (const days of [400, 1]) {
      own.clock.pass(days * DAY)
      await own.local.domain.instance.upkeep()
    }
    expect(await remembered()).toEqual([])
  })

  test('from a moment that has not come yet misses nothing from then on', async () => {
    await say(ada, room, 'before')
    const { messages, timestamp } = await pollOf(bob, room, '2999-01-01T00:00:00.000Z')
    expect(messages).toEqual([])
    await say(ada, room, 'after')
    expect(contents((await pollOf(bob, room, timestamp)).messages)).toEqual(['after'])
  })

  test('tells a long story in parts, without gap or repetition', async () => {
    const start = server.clock.now() + 1
    const ids = await server.database.write('instance', async (tx) => {
      const made: number[] = []
      const row = { room_id: room, user_id: ada.id, reply_to: null, edited_at: null, version: 1, client_id: null }
      for (let i = 0; i < 1_200; i += 1) {
        const message = { ...row, content: `n ${i}`, timestamp: start + i }
        const { id } = await tx.q.insertInto('messages').values(message).returning('id').executeTakeFirstOrThrow()
        made.push(id)
      }
      await tx.q
        .updateTable('rooms')
        .set({ stamp: start + 1_200 })
        .where('id', '=', room)
        .execute()
      return made
    })
    await ada.ask(remove, { message_id: ids[700]! })
    await ada.ask(edit, { message_id: ids[3]!, content: 'mended' })
    const seen = new Map<number, string>()
    let after = LONG_AGO
    for (let turn = 0; turn < 4; turn += 1) {
      const told = await pollOf(bob, room, after)
      for (const { message_id } of told.messages) expect(seen.has(message_id)).toBe(false)
      for (const { message_id, content } of [...told.messages, ...told.changed]) seen.set(message_id, content)
      for (const id of told.deleted) seen.delete(id)
      after = told.timestamp
    }
    expect([...seen.keys()]).toEqual(ids.filter((_, i) => i !== 700))
    expect(seen.get(ids[3]!)).toBe('mended')
    expect(await pollOf(bob, room, after)).toMatchObject({ messages: [], changed: [], deleted: [], timestamp: after })
  })

  test.each([
    { after: '' },
    { after: 'now' },
    { after: 5 },
    {},
    { after: LONG_AGO, wait: 56 },
    { after: LONG_AGO, wait: -1 },
  ])('is refused with %j', async (params) => {
    const reply = await ada.call(poll, { room_id: room, ...params })
    expect([reply.status, reply.json['code']]).toEqual([400, 'bad_request'])
  })
})

test('whoever follows a room by polls alone ends up with what is in it', async () => {
  const random = makeRandom(7)
  const known = new Map<number, string>()
  const mine: number[] = []
  let after = LONG_AGO
  const follow = async () => {
    const told = await pollOf(bob, room, after)
    for (const { message_id, content, reactions } of [...told.messages, ...told.changed])
      known.set(message_id, `${content} ${reactions.map(({ emoji, count }) => `${emoji}${count}`).join()}`)
    for (const id of told.deleted) known.delete(id)
    after = told.timestamp
  }
  for (let turn = 0; turn < 40; turn += 1) {
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const which = random.below(6)
        const message_id = mine[random.below(mine.length || 1)]
        if (which < 2 || message_id === undefined) mine.push((await say(ada, room, `turn ${turn}`)).message_id)
        else if (which === 2) await ada.call(edit, { message_id, content: `mended ${turn}` })
        else if (which === 3) await ada.call(remove, { message_id })
        else await (which === 4 ? ada : bob).call(react, { message_id, emoji: random.of(['👍', '🙂']) })
        if (random.below(3) === 0) await follow()
      }),
    )
    server.clock.pass(random.below(3))
  }
  await follow()
  const there = await heard(ada, room, { limit: 200 })
  expect(Object.fromEntries(known)).toEqual(
    Object.fromEntries(
      there.map(({ message_id, content, reactions }) => [
        message_id,
        `${content} ${reactions.map(({ emoji, count }) => `${emoji}${count}`).join()}`,
      ]),
    ),
  )
})

/** Waits until so many polls have arrived in the domain. */
function arrival({ local: { domain } }: TestServer, polls = 1): Promise<void> {
  const real = domain.chat.poll
  let missing = polls
  return new Promise((resolve) => {
    domain.chat.poll = (...args) => {
      missing -= 1
      if (missing > 0) return real(...args)
      domain.chat.poll = real
      const held = real(...args)
      // The request is held after the questions that come before.
      setTimeout(resolve, 20)
      return held
    }
  })
}

/** Begins to wait, and does something once the request is held. */
async function whileWaiting(account: Account, then: () => Promise<unknown>, wait = 55) {
  const after = await momentOf(account)
  const arrived = arrival(server)
  const started = performance.now()
  const answer = account.call(poll, { room_id: room, after, wait })
  await arrived
  await then()
  const { status, json } = await answer
  return { status, told: json as unknown as Polled, ms: performance.now() - started }
}

describe('a poll that waits', () => {
  test('is answered at once when there is something to tell', async () => {
    await say(bob, room, 'hello')
    const started = performance.now()
    expect(contents((await pollOf(ada, room, LONG_AGO, 55)).messages)).toEqual(['hello'])
    expect(performance.now() - started).toBeLessThan(55_000)
  })

  test.each([
    ['messages', () => say(bob, room, 'hello')],
    ['typing', () => bob.ask(typing, { room_id: room })],
  ] as const)('is answered with new %s', async (what, happens) => {
    const { told, ms } = await whileWaiting(ada, happens)
    expect(told[what]).toHaveLength(1)
    expect(ms).toBeLessThan(55_000)
  })

  test.each([
    ['an edit', 'changed', (message_id: number) => bob.ask(edit, { message_id, content: 'x' })],
    ['a reaction', 'changed', (message_id: number) => bob.ask(react, { message_id, emoji: '👍' })],
    ['a deletion', 'deleted', (message_id: number) => bob.ask(remove, { message_id })],
  ] as const)('is answered with %s', async (_, what, happens) => {
    const { message_id } = await say(bob, room, 'hello')
    const { told, ms } = await whileWaiting(ada, () => happens(message_id))
    expect(told[what]).toHaveLength(1)
    expect(told.messages).toEqual([])
    expect(ms).toBeLessThan(55_000)
  })

  test('is answered with what another process writes, within about a second', async () => {
    const other = await openLocal({ dataDir: server.dataDir, env: server.env, clock: server.clock })
    const author = { id: bob.id, username: bob.username, display_name: '', avatar_color: '', role: 'user' as const }
    const { told, ms } = await whileWaiting(ada, () =>
      other.domain.chat.send(author, { room_id: room, content: 'from afar' }),
    )
    await other.close()
    expect(contents(told.messages)).toEqual(['from afar'])
    expect(ms).toBeLessThan(55_000)
  })

  test('is not disturbed by other rooms, and is told so when its time is over', async () => {
    const other = await channelOf(ada, bob)
    const { told, ms } = await whileWaiting(ada, () => say(bob, other, 'elsewhere'), 1)
    expect(told).toMatchObject({ messages: [], changed: [], deleted: [], typing: [] })
    expect(ms).toBeGreaterThan(990)
  })

  test.each([
    ['leaves', () => bob.ask(leave, { room_id: room })],
    ['is taken out', () => ada.ask(remove_participant, { room_id: room, user_id: bob.id })],
    ['loses the room', () => ada.ask(delete_room, { room_id: room })],
  ])('is refused at once to whoever %s meanwhile', async (_, happens) => {
    await say(ada, room, 'secret')
    const { status, ms } = await whileWaiting(bob, happens)
    expect(status).toBe(403)
    expect(ms).toBeLessThan(55_000)
  })

  test('is answered to many at once, each as they see it', async () => {
    const { message_id } = await say(bob, room, 'tea?')
    const after = await momentOf(ada)
    const arrived = arrival(server, 200)
    const waiting = [ada, bob].flatMap((account) =>
      Array.from({ length: 100 }, async () => [account, await pollOf(account, room, after, 55)] as const),
    )
    await arrived
    await reactTo(ada, message_id, '👍')
    for (const [account, { changed }] of await Promise.all(waiting)) {
      expect(changed).toMatchObject([{ message_id, reactions: [{ count: 1, mine: account === ada }] }])
    }
  })

  test('is answered when the server stops', async () => {
    const own = await startServer()
    const account = await own.account()
    const alone = await channelOf(account)
    const { timestamp } = await pollOf(account, alone, LONG_AGO)
    const arrived = arrival(own)
    const answer = pollOf(account, alone, timestamp, 55)
    await arrived
    const started = performance.now()
    await Promise.all([own.close(), expect(answer).resolves.toMatchObject({ messages: [], timestamp })])
    expect(performance.now() - started).toBeLessThan(55_000)
  })
})

describe('typing', () => {
  const typists = async (account: Account) => (await pollOf(account, room, LONG_AGO)).typing

  test('shows to the others for 6 seconds', async () => {
    await bob.ask(typing, { room_id: room })
    expect(await typists(ada)).toEqual([{ user_id: bob.id, display_name: bob.username }])
    expect(await typists(bob)).toEqual([])
    server.clock.pass(5_999)
    expect(await typists(ada)).toHaveLength(1)
    server.clock.pass(1)
    expect(await typists(ada)).toEqual([])
  })

  test('goes on as long as it is said again, which wakes nobody', async () => {
    await bob.ask(typing, { room_id: room })
    const moment = await momentOf(ada)
    server.clock.pass(5_000)
    await bob.ask(typing, { room_id: room })
    expect(await momentOf(ada)).toBe(moment)
    server.clock.pass(5_000)
    expect(await typists(ada)).toHaveLength(1)
  })

  test('ends with the message', async () => {
    await bob.ask(typing, { room_id: room })
    await say(bob, room, 'done')
    expect(await typists(ada)).toEqual([])
  })

  test('in one room does not show in another', async () => {
    const other = await channelOf(ada, bob)
    await bob.ask(typing, { room_id: other })
    expect(await typists(ada)).toEqual([])
  })

  test('lets a poll that waits go when it ends', async () => {
    await bob.ask(typing, { room_id: room })
    server.clock.pass(5_900)
    const after = await momentOf(ada)
    const started = performance.now()
    await pollOf(ada, room, after, 55)
    expect(performance.now() - started).toBeLessThan(55_000)
  })
})
