import { expect, test } from 'vitest'
import { actions } from '../../src/contract/contract.ts'
import { teamChat } from '../../src/contract/team-chat.ts'
import { setup } from '../../src/contract/setup.ts'
import { DAY } from '../../src/base/clock.ts'
import { prepare, waysOf } from '../support/examples.ts'
import { serverOfTest } from '../support/server.ts'

// What requests leave behind is sound: the check knows the rules of all parts, so this is the test of their agreement.

test('after every action there is, whoever came and went, everything stored is sound', async () => {
  const server = await serverOfTest()
  const { accounts, instance } = server.local.domain
  const leaving: number[] = []
  for (const [at, action] of actions.entries()) {
    // Setting up is for a server of its own.
    if (action === setup.actions.setup || action.auth === 'anyone') continue
    const { client, account, params, more } = await prepare(server, action, waysOf(action).at(-1))
    expect([action.name, (await client.call(action, params, more)).status]).toEqual([action.name, action.status ?? 200])
    if (at % 3 === 0) leaving.push(account.id)
  }
  expect((await instance.storage.check()).problems).toEqual([])

  const host = await server.account()
  const guest = await server.account()
  const { room } = await host.ask(teamChat.actions.create_room, {
    name: 'Guests',
    type: 'channel',
    participants: [guest.id],
  })
  await guest.ask(teamChat.actions.send, { room_id: room.room_id, content: 'Good bye' })
  await guest.ask(teamChat.actions.leave, { room_id: room.room_id })
  for (const id of leaving)
    if ((await accounts.list()).some((user) => user.id === id && user.role === 'user')) await accounts.remove(id)
  expect((await instance.storage.check()).problems).toEqual([])

  server.clock.pass(400 * DAY)
  await instance.upkeep()
  expect((await instance.storage.check()).problems).toEqual([])
})
