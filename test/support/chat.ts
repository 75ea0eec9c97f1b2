import { teamChat } from '../../src/contract/team-chat.ts'
import type { Answer } from '../../src/contract/define.ts'
import type { Account } from './account.ts'
import type { TestServer } from './server.ts'

const { create_room, send, messages, rooms, poll, react, unread } = teamChat.actions

export type Room = Answer<typeof create_room>['room']
export type Message = Answer<typeof send>['message']
export type Polled = Answer<typeof poll>

/** A channel with an account and others. */
export const channelOf = async (creator: Account, ...others: Account[]): Promise<number> => {
  const participants = others.map(({ id }) => id)
  return (await creator.ask(create_room, { name: 'Engines', type: 'channel', participants })).room.room_id
}

export const say = async (account: Account, room_id: number, content: string, more: object = {}): Promise<Message> =>
  (await account.ask(send, { room_id, content, ...more })).message

/** The last messages of a room, oldest first. */
export const heard = async (account: Account, room_id: number, more: object = {}): Promise<Message[]> =>
  (await account.ask(messages, { room_id, ...more })).messages

export const roomOf = async (account: Account, room_id: number): Promise<Room | undefined> =>
  (await account.ask(rooms, {})).rooms.find((room) => room.room_id === room_id)

export const pollOf = (account: Account, room_id: number, after: string, wait = 0): Promise<Polled> =>
  account.ask(poll, { room_id, after, wait })

export const reactTo = (account: Account, message_id: number, emoji: string) =>
  account.ask(react, { message_id, emoji })

export const unreadIn = async (account: Account, room_id: number): Promise<number | undefined> =>
  (await account.ask(unread, {})).rooms.find((room) => room.room_id === room_id)?.unread

/** Disables an account, like the administrator's command. */
export const disable = (server: TestServer, { id }: Account) =>
  server.database.write('instance', (tx) =>
    tx.q.updateTable('users').set({ disabled_at: server.clock.now() }).where('id', '=', id).execute(),
  )
