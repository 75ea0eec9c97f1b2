import { expect, test } from 'vitest'
import { teamChat } from '../../src/contract/team-chat.ts'
import { clientOf, type Account } from '../support/account.ts'
import { channelOf, reactTo, say } from '../support/chat.ts'
import { startAs, until, type Running } from '../support/chat-command.ts'
import { folderOfTest, serverOfTest, startServer } from '../support/server.ts'

// Commands of the chat that go on, as they are built, with a server that comes and goes.

const eventsOf = ({ printed }: Running): Record<string, unknown>[] =>
  printed.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

const short = (events: Record<string, unknown>[]): string[] =>
  events.map(({ event, message, message_id }) => {
    const { content } = (message ?? {}) as { content?: string }
    return [event, content ?? message_id].filter((part) => part !== undefined).join(' ')
  })

const named = (one: Running, event: string) => eventsOf(one).filter((each) => each['event'] === event)
const saw = (one: Running, count: number) => () => eventsOf(one).length >= count
const told = (one: Running) => () => JSON.stringify(one.printed)

test('tail tells what was said and what happens, through a restart and maintenance', { timeout: 150_000 }, async () => {
  const dataDir = await folderOfTest()
  const first = await startServer({ dataDir })
  const port = new URL(first.url).port
  const ada = await first.account()
  const bob = await first.account()
  const room = await channelOf(ada, bob)
  for (const text of ['one', 'two', 'three']) await say(ada, room, text)

  const tail = await startAs({ url: first.url, token: bob.token }, 'chat', 'tail', 'engines', '--limit', '2', '--json')
  await until('the history is told', saw(tail, 2), told(tail))
  const { message_id } = await say(ada, room, 'four')
  await until('a new message is told', saw(tail, 3), told(tail))
  await ada.ask(teamChat.actions.edit, { message_id, content: 'FOUR' })
  await until('an edit is told', saw(tail, 4), told(tail))
  await reactTo(bob, message_id, '👍')
  await until('a reaction is told', saw(tail, 5), told(tail))
  await ada.ask(teamChat.actions.delete, { message_id })
  await until('a deletion is told', saw(tail, 6), told(tail))

  await first.close()
  await until('the loss is told', saw(tail, 7), told(tail))
  const again = await startServer({ dataDir, flags: { port } })
  try {
    const back = clientOf(again.url, ada.token) as Account
    // Said while nobody listened.
    await say(back, room, 'five')
    await until('the server is back and five is told', saw(tail, 9), told(tail))
    const admin = await again.account({ role: 'admin' })
    await back.ask(teamChat.actions.invite, { room_id: room, user_ids: [admin.id] })
    await again.set('#maintenance', { message: 'Oiling', read_only: false, until: null })
    await say(admin, room, 'six')
    await until('maintenance is told', () => named(tail, 'offline').length === 2, told(tail))
    await say(admin, room, 'seven')
    await again.set('#maintenance', undefined)
    await until('seven is told', saw(tail, 13), told(tail))
  } finally {
    await again.close()
  }
  expect(named(tail, 'offline')).toEqual([
    { event: 'offline', message: expect.stringContaining('127.0.0.1') },
    { event: 'offline', message: 'The server is under maintenance: Oiling' },
  ])
  expect(short(eventsOf(tail)).filter((event) => !/^(on|off)line/.test(event))).toEqual([
    'message two',
    'message three',
    'message four',
    'changed FOUR',
    'changed FOUR',
    `deleted ${message_id}`,
    'message five',
    'message six',
    'message seven',
  ])
  expect(tail.printed.stderr).toBe('')
})

test('what others wrote reaches a terminal without its control characters', async () => {
  const server = await serverOfTest()
  const ada = await server.account()
  const room = await channelOf(ada)
  await say(ada, room, 'red \u001b[31m\u001b]0;title\u0007 \u202egnp.exe\r\nC1 \u009b2J\u2028end \u061c\ttab')
  const tail = await startAs({ url: server.url, token: ada.token }, 'chat', 'tail', 'engines')
  await until('it is told', () => tail.printed.stdout.includes('tab\n'), told(tail))
  // oxlint-disable-next-line no-control-regex
  expect(tail.printed.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u2028\u202e]/)
  expect(tail.printed.stdout).toContain(
    'red \ufffd[31m\ufffd]0;title\ufffd \ufffdgnp.exe\n    C1 \ufffd2J\ufffdend \ufffd    tab\n',
  )
})

test('wait ends with the message that matches, and no pattern makes it hang', async () => {
  const server = await serverOfTest()
  const ada = await server.account()
  const bob = await server.account()
  const room = await channelOf(ada, bob)
  await say(ada, room, 'the past: aaa!')
  const hostile = ['chat', 'wait', 'engines', '--match', '^(a+)+!$', '--from', bob.username, '--json']
  const wait = await startAs({ url: server.url, token: ada.token }, ...hostile)
  // It counts from the moment the command read the rooms, which shows in nothing: it is told again until it is heard.
  await say(ada, room, 'aaa!')
  await say(bob, room, `${'a'.repeat(16_000)}?`)
  let heard = false
  void wait.ended.then(() => (heard = true))
  await until('it has heard', async () => (await say(bob, room, 'aa!')) && heard, told(wait))
  expect(await wait.ended).toBe(0)
  expect(JSON.parse(wait.printed.stdout)).toMatchObject({ content: 'aa!', user_id: bob.id })
})

test('who is taken out of a room is told so', async () => {
  const server = await serverOfTest()
  const ada = await server.account()
  const bob = await server.account()
  const room = await channelOf(ada, bob)
  await say(ada, room, 'Hello')
  const tail = await startAs({ url: server.url, token: bob.token }, 'chat', 'tail', 'engines', '--json')
  await until('the history is told', saw(tail, 1), told(tail))
  await ada.ask(teamChat.actions.remove_participant, { room_id: room, user_id: bob.id })
  expect(await tail.ended).toBe(4)
  expect(JSON.parse(tail.printed.stderr)).toMatchObject({ exit_code: 4, code: 'forbidden' })
})
