import { printable } from '../../base/text.ts'
import { teamChat } from '../../contract/team-chat.ts'
import { command } from '../command.ts'

export const rename = command({
  name: 'chat rename',
  summary: 'Rename a room, as its creator or as an administrator in it',
  needs: 'server',
  args: { room: "room: name or '#id'", name: 'new name' },
  flags: {},
  examples: ['svc chat rename engines "Difference engines"'],
  async run({ io, api, args }) {
    const { resolveRoom } = await import('./room-lookup.ts')
    const { room, title } = await resolveRoom(api, args.room)
    const params = { room_id: room.room_id, name: args.name }
    const { room: now } = await api.call(teamChat.actions.rename_room, params, { repeatable: true })
    io.print(`${printable(title)} is now called ${printable(now.name)}.`, now)
  },
})
