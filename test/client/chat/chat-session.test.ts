import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { makeApi, type Api } from '../../../src/client/api.ts'
import type { Message } from '../../../src/client/chat/room-feed.ts'
import { makeChatSession, type ChatSession } from '../../../src/client/chat/chat-session.ts'
import { makeNodeTransport } from '../../../src/client/http/node-transport.ts'
import { syncAuth } from '../../../src/contract/sync-auth.ts'
import { teamChat } from '../../../src/contract/team-chat.ts'
import { clientOf, type Account } from '../../support/account.ts'
import { channelOf, heard, pollOf, say, unreadIn } from '../../support/chat.ts'
import { until } from '../../support/chat-command.ts'
import { folderOfTest, serverOfTest, startServer } from '../../support/server.ts'
import { sleep } from '../../../src/base/sleep.ts'

interface Talking extends ChatSession {
  rang: string[]
  refused: string[]
}

function apiOf(url: string, token: string): Api {
  const api = makeApi({ url, token, transport: makeNodeTransport() })
  onTestFinished(() => api.close())
  return api
}

/** A session of an account, which is closed with the test. */
async function talk(
  url: string,
  token: string,
  renew = async (): Promise<Api | undefined> => undefined,
): Promise<Talking> {
  const rang: string[] = []
  const refused: string[] = []
  const session = makeChatSession({
    api: apiOf(url, token),
    renew,
    clock: systemClock,
    sleep,
    random: () => 1,
    changed: () => undefined,
    heard: (message: Message, forMe) => void (forMe && rang.push(message.content)),
    refused: ({ content }) => void refused.push(content),
    beatMs: 30,
  })
  onTestFinished(() => session.close())
  session.failure.catch(() => undefined)
  await session.start()
  return { ...session, rang, refused }
}

const contents = ({ state }: ChatSession, room: number): string[] =>
  state.logs.get(room)?.messages.map(({ content }) => content) ?? []

const soon = (what: string, session: ChatSession, isSo: () => boolean | Promise<boolean>): Promise<void> =>
  until(what, isSo, () => JSON.stringify(session.state))

async function world() {
  const server = await serverOfTest()
  const ada = await server.account({ username: 'ada' })
  const bob = await server.account({ username: 'bob' })
  return { server, ada, bob, room: await channelOf(ada, bob) }
}

test('what others say, change and take back is known at once', async () => {
  const { server, ada, bob, room } = await world()
  await say(ada, room, 'before')
  const session = await talk(server.url, bob.token)
  session.open(room)
  await soon('the history', session, () => contents(session, room).join() === 'before')
  const { message_id } = await say(ada, room, 'now')
  await soon('a new message', session, () => contents(session, room).join() === 'before,now')
  await ada.ask(teamChat.actions.edit, { message_id, content: 'NOW' })
  await soon('its edit', session, () => contents(session, room).join() === 'before,NOW')
  await ada.ask(teamChat.actions.typing, { room_id: room })
  await soon('who is typing', session, () => session.state.typing.some(({ user_id }) => user_id === ada.id))
  await ada.ask(teamChat.actions.delete, { message_id })
  await soon('its deletion', session, () => contents(session, room).join() === 'before')
  expect(session.state.rooms.map(({ room_id }) => room_id)).toEqual([room])
})

test('own messages are sent once and in order, and typing is told once', async () => {
  const { server, ada, bob, room } = await world()
  const session = await talk(server.url, bob.token)
  session.open(room)
  const { timestamp } = await pollOf(ada, room, '2030-01-01T00:00:00.000Z')
  session.typing()
  session.typing()
  await soon('typing is told', session, async () => (await pollOf(ada, room, timestamp)).typing.length === 1)
  for (const text of ['one', 'two', 'three']) session.post(text)
  expect(session.state.pending.map(({ content }) => content)).toEqual(['one', 'two', 'three'])
  await soon('all are sent', session, () => session.state.pending.length === 0)
  await soon('all are known', session, () => contents(session, room).join() === 'one,two,three')
  expect((await heard(ada, room)).map(({ content }) => content)).toEqual(['one', 'two', 'three'])
  session.post('x'.repeat(20_000))
  await soon('one is refused', session, () => session.refused.length === 1)
  expect(session.state.pending).toEqual([])
})

test('what is said elsewhere is counted, and rings when it is for the user', async () => {
  const { server, ada, bob, room } = await world()
  const other = await channelOf(ada, bob)
  await say(ada, other, 'long ago')
  const session = await talk(server.url, bob.token)
  session.open(room)
  await say(ada, other, 'to all')
  await say(ada, other, 'to you, @Bob.')
  await say(ada, other, 'to @bobby')
  await soon('it is counted', session, () => session.state.unread.get(other) === 4)
  await soon('it rings', session, () => session.rang.length === 1)
  expect(session.rang).toEqual(['to you, @Bob.'])
  expect([...session.state.mentions]).toEqual([other])
  expect(await unreadIn(bob, other)).toBe(4)

  session.open(other)
  await soon('it is read', session, async () => (await unreadIn(bob, other)) === 0)
  expect(contents(session, other)).toEqual(['long ago', 'to all', 'to you, @Bob.', 'to @bobby'])
  expect(session.state.newFrom).toBe(session.state.logs.get(other)!.messages[0]!.message_id)
  expect(session.state.mentions.size).toBe(0)
})

test('what comes while nobody looks stays unread until somebody does', async () => {
  const { server, ada, bob, room } = await world()
  const session = await talk(server.url, bob.token)
  session.open(room)
  await soon('the room is open', session, () => session.state.logs.has(room))
  session.focus(false)
  const { message_id } = await say(ada, room, 'anybody there?')
  await soon('it is known', session, () => contents(session, room).length === 1)
  expect(await unreadIn(bob, room)).toBe(1)
  expect(session.state.newFrom).toBe(message_id)
  session.focus(true)
  await soon('it is read', session, async () => (await unreadIn(bob, room)) === 0)
})

test('older pages are read, without gaps and only once', async () => {
  const { server, ada, bob, room } = await world()
  const all = Array.from({ length: 120 }, (_, number) => `message ${number}`)
  for (const text of all) await say(ada, room, text)
  const session = await talk(server.url, bob.token)
  session.open(room)
  await soon('the last page', session, () => contents(session, room).length === 50)
  await session.older()
  await session.older()
  await session.older()
  expect(contents(session, room)).toEqual(all)
  expect(session.state.logs.get(room)!.hasMore).toBe(false)
})

test('a message written while the server is away is sent once it is back', async () => {
  const dataDir = await folderOfTest()
  const first = await startServer({ dataDir })
  const ada = await first.account()
  const bob = await first.account()
  const room = await channelOf(ada, bob)
  const session = await talk(first.url, bob.token)
  session.open(room)
  await soon('the room is open', session, () => session.state.logs.has(room))
  await first.close()
  await soon('the loss is known', session, () => session.state.connectionError?.kind === 'away')
  session.post('written in the dark')
  const again = await startServer({ dataDir, flags: { port: new URL(first.url).port } })
  onTestFinished(() => again.close())
  const back = clientOf(again.url, ada.token) as Account
  await say(back, room, 'said meanwhile')
  await soon('both are there', session, () => contents(session, room).length === 2)
  await soon(
    'all is well',
    session,
    () => session.state.connectionError === undefined && session.state.pending.length === 0,
  )
  expect((await heard(back, room)).filter(({ content }) => content === 'written in the dark')).toHaveLength(1)
})

test('a sign-in that ended goes on with the next one', async () => {
  const { server, ada, bob, room } = await world()
  const next = await bob.another()
  let isSignedIn = false
  const session = await talk(server.url, bob.token, async () =>
    isSignedIn ? apiOf(server.url, next.token) : undefined,
  )
  session.open(room)
  await bob.ask(syncAuth.actions.logout, {})
  await soon('it is known', session, () => session.state.connectionError?.kind === 'signed-out')
  session.post('still here')
  isSignedIn = true
  await soon('it goes on', session, () => session.state.connectionError === undefined)
  await soon('the message is there', session, async () => (await heard(ada, room)).length === 1)
})

test('a room one is taken out of goes, and another is opened', async () => {
  const { server, ada, bob, room } = await world()
  const other = await channelOf(bob)
  const session = await talk(server.url, bob.token)
  session.open(room)
  await soon('the room is open', session, () => session.state.logs.has(room))
  await ada.ask(teamChat.actions.remove_participant, { room_id: room, user_id: bob.id })
  await soon('it is gone', session, () => session.state.current === other)
  expect(session.state.rooms.map(({ room_id }) => room_id)).toEqual([other])
  const later = await channelOf(ada, bob)
  await soon('a new one comes', session, () => session.state.rooms.some(({ room_id }) => room_id === later))
})
