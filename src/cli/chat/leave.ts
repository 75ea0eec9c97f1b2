import { printable } from '../../base/text.ts'
import { teamChat } from '../../contract/team-chat.ts'
import { cancelled, command, flag } from '../command.ts'

export const leave = command({
  name: 'chat leave',
  summary: 'Leave a room',
  details:
    'Anybody in it can add you again. When the last member leaves, the room is removed with its messages and files.',
  needs: 'server',
  args: { room: "room: name or '#id'" },
  flags: { yes: flag.yes },
  examples: ['svc chat leave engines', "svc chat leave '#12' --yes"],
  async run({ io, api, args, flags }) {
    const { resolveRoom } = await import('./room-lookup.ts')
    const { room, title } = await resolveRoom(api, args.room)
    const last = room.participant_count === 1 ? ', which removes it with its messages and files' : ''
    if (!flags.yes && !(await io.confirm(`Leave ${printable(title)}${last}?`))) throw cancelled()
    await api.call(teamChat.actions.leave, { room_id: room.room_id })
    io.print(`Left ${printable(title)}.`, { room_id: room.room_id, name: room.name })
  },
})
