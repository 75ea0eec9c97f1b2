import { command } from '../command.ts'
import { formatTime } from '../time-format.ts'

export const rooms = command({
  name: 'chat rooms',
  summary: 'List your rooms, the one with the newest message first',
  needs: 'server',
  onlyPrints: true,
  args: {},
  flags: {},
  examples: ['svc chat rooms', 'svc chat rooms --json'],
  async run({ io, api }) {
    const { readRooms } = await import('./room-lookup.ts')
    const { titleOf } = await import('../../client/chat/room-names.ts')
    const { me, rooms: found } = await readRooms(api)
    io.table(
      found,
      [
        { title: 'ID', value: ({ room_id }) => `#${room_id}`, align: 'right' },
        { title: 'ROOM', value: (room) => titleOf(room, me) },
        { title: 'UNREAD', value: ({ unread_count }) => unread_count || '', align: 'right' },
        { title: 'MEMBERS', value: ({ participant_count }) => participant_count, align: 'right' },
        {
          title: 'LAST MESSAGE',
          value: ({ last_message }) => (last_message ? formatTime(Date.parse(last_message.timestamp)) : 'none'),
        },
      ],
      'You are in no room yet: svc chat create makes one.',
      found.map((room) => ({ ...room, title: titleOf(room, me) })),
    )
  },
})
