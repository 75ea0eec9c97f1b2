import { expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { teamChat } from '../../src/contract/team-chat.ts'
import { channelOf, say } from '../support/chat.ts'
import { runCommand } from '../support/command.ts'
import { bytesOf } from '../support/contents.ts'
import { serverOfTest } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

// Rooms as an administrator's command sees and removes them while the server runs.

async function scene() {
  const server = await serverOfTest()
  const [ada, bob] = [await server.account({ username: 'ada' }), await server.account({ username: 'bob' })]
  const room = await channelOf(ada, bob)
  await say(ada, room, 'Good morning')
  const { message_id } = await say(bob, room, 'Good night')
  const body = new FormData()
  body.append('file', new Blob([bytesOf(3_000)]), 'plan.bin')
  await bob.ask(filesystem.actions.upload, { path: '/Teamchat/Engines' }, { body })
  const svc = (...args: string[]) => runCommand(server.dataDir, ...args)
  return { server, ada, bob, room, message_id, svc }
}

test('are listed with how much they hold, and never with what is said', async () => {
  const { server, svc, ada, room } = await scene()
  await server.account({ username: 'eve' })
  await ada.ask(teamChat.actions.create_room, { name: 'Tearoom', type: 'channel', participants: [] })
  // Not even what no way through the service leads to reaches the terminal.
  await server.database.write('instance', (tx) =>
    tx.q.updateTable('rooms').set({ name: 'Tea\u202eroom' }).where('name', '=', 'Tearoom').execute(),
  )
  const { stdout, code } = await svc('rooms', 'list')
  expect([code, stdout]).toEqual([
    0,
    [
      'ID  ROOM      TYPE     MEMBERS  MESSAGES  FILES    SIZE  LAST MESSAGE',
      ' 1  Engines   channel        2         2      1  2.9 KB  2026-11-21 12:00',
      ' 2  Tea\ufffdroom  channel        1         0      0     0 B  none',
      '',
    ].join('\n'),
  ])
  const shown = await svc('room', 'show', 'Engines')
  expect(shown.stdout).toContain('by ada')
  expect(shown.stdout).toContain('    bob, ')
  expect(shown.stdout).not.toContain('eve')
  expect(shown.stdout).not.toContain('Good')
  expect(JSON.parse((await svc('room', 'show', String(room), '--json')).stdout)).toMatchObject({
    room_id: room,
    members: 2,
    messages: 2,
    files: 1,
    bytes: 3_000,
    people: [{ username: 'ada' }, { username: 'bob' }],
  })
})

test('are removed whole: members are told, bytes are given back, and the log says who it was', async () => {
  const { server, svc, ada, bob, room, message_id } = await scene()
  const cursor = (await ada.everything()).cursor
  const waiting = ada.delta(cursor, { wait: 30 })

  const before = await commitsSeenBy(server.database)
  expect(await svc('room', 'remove', 'Engines')).toMatchObject({
    code: 2,
    stderr: 'svc: There is no terminal to ask on: give --yes.\n',
  })
  expect((await svc('room', 'remove', 'Engines', '--dry-run')).stdout).toBe(
    `Would remove Engines (ID ${room}) with 2 members, 2 messages and 1 file (2.9 KB).\n`,
  )
  expect(await commitsSeenBy(server.database)).toBe(before)
  expect((await bob.ask(filesystem.actions.quota, {})).used).toBe(3_000)

  expect(await svc('room', 'remove', 'Engines', '--yes')).toEqual({
    code: 0,
    stdout: `Removed Engines (ID ${room}) with 2 members, 2 messages and 1 file (2.9 KB).\n`,
    stderr: '',
  })
  // The server hears of it while somebody waits.
  const { changes } = await waiting
  expect(changes.map(({ table, operation, data }) => [table, operation, data.id])).toEqual([
    ['svc_messages', 'DELETE', message_id - 1],
    ['svc_messages', 'DELETE', message_id],
    ['svc_rooms', 'DELETE', room],
  ])
  expect((await ada.ask(teamChat.actions.rooms, {})).rooms).toEqual([])
  expect((await bob.ask(filesystem.actions.quota, {})).used).toBe(0)
  expect((await svc('room', 'remove', 'Engines', '--yes')).code).toBe(5)
  const [entry] = await server.local.domain.instance.audit.list({ kinds: ['room.removed'], limit: 2 })
  expect([entry!.actor, JSON.parse(entry!.detail!)]).toEqual([
    `cli:${process.getuid?.()}`,
    { id: room, name: 'Engines', members: 2, messages: 2, files: 1, bytes: 3_000 },
  ])
})

test('of one name are told apart by their ID', async () => {
  const { svc, ada, room } = await scene()
  const { room_id } = (
    await ada.ask(teamChat.actions.create_room, { name: 'Engines', type: 'channel', participants: [] })
  ).room
  expect(await svc('room', 'show', 'Engines')).toMatchObject({
    code: 6,
    stderr: `svc: 2 rooms are called "Engines": give the ID of one of them (${room}, ${room_id}).\n`,
  })
  expect((await svc('room', 'remove', String(room_id), '--yes')).code).toBe(0)
  expect((await ada.ask(teamChat.actions.rooms, {})).rooms).toMatchObject([{ room_id: room }])
})

test('removed by an administrator of the service who did not make them stand in the log, others do not', async () => {
  const { server, ada, bob, room } = await scene()
  const root = await server.account({ role: 'admin', username: 'root' })
  await root.ask(teamChat.actions.delete_room, { room_id: room })
  const own = await channelOf(ada, bob)
  await ada.ask(teamChat.actions.delete_room, { room_id: own })
  const entries = await server.local.domain.instance.audit.list({ kinds: ['room.removed'], limit: 5 })
  expect(entries.map(({ actor, detail }) => [actor, detail])).toEqual([['root', `{"id":${room},"name":"Engines"}`]])
})
