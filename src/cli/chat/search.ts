import { printable } from '../../base/text.ts'
import { teamChat } from '../../contract/team-chat.ts'
import { command, flag } from '../command.ts'

export const search = command({
  name: 'chat search',
  summary: 'Search messages for a text, newest first',
  details: 'Finds at most 100 messages, in your rooms. Case does not matter.',
  needs: 'server',
  onlyPrints: true,
  args: { text: 'text to search for' },
  flags: { room: flag.text("only in this room: name, '#id' or @user", 'ROOM') },
  examples: ['svc chat search "release notes"', 'svc chat search invoice --room general --json'],
  async run({ io, api, args, flags }) {
    const { readRooms, findRoom } = await import('./room-lookup.ts')
    const { titleOf } = await import('../../client/chat/room-names.ts')
    const { transcript } = await import('./transcript.ts')
    const place = await readRooms(api)
    const room_id = flags.room === undefined ? undefined : findRoom(place, flags.room).room_id
    const params = { query: args.text, ...(room_id === undefined ? {} : { room_id }) }
    const { messages } = await api.call(teamChat.actions.search, params)
    const titles = new Map(place.rooms.map((room) => [room.room_id, titleOf(room, place.me)]))
    if (io.json) io.print('', messages)
    else if (messages.length === 0) io.info('Nothing was found.')
    for (const message of io.json ? [] : messages) {
      const title = titles.get(message.room_id) ?? `#${message.room_id}`
      io.print(`${io.paint.dim(`[${printable(title)}]`)} ${transcript(message, io.paint)}`, undefined)
    }
  },
})
