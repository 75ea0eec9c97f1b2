import { teamChat } from '../../contract/team-chat.ts'
import { command } from '../command.ts'
import { formatTime } from '../time-format.ts'

export const members = command({
  name: 'chat members',
  summary: 'List who is in a room',
  needs: 'server',
  onlyPrints: true,
  args: { room: "room: name, '#id' or @user" },
  flags: {},
  examples: ['svc chat members general', 'svc chat members general --json'],
  async run({ io, api, args }) {
    const { resolveRoom } = await import('./room-lookup.ts')
    const { room } = await resolveRoom(api, args.room)
    const { members: found } = await api.call(teamChat.actions.members, { room_id: room.room_id })
    io.table(
      found,
      [
        { title: 'USER', value: ({ username }) => username },
        { title: 'NAME', value: ({ display_name }) => display_name },
        {
          title: 'LAST ACTIVE',
          value: ({ last_active }) => (last_active === null ? 'never' : formatTime(Date.parse(last_active))),
        },
      ],
      'Nobody is in the room.',
    )
  },
})
