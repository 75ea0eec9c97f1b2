import { printable } from '../../base/text.ts'
import { teamChat } from '../../contract/team-chat.ts'
import { command } from '../command.ts'

export const invite = command({
  name: 'chat invite',
  summary: 'Add people to a room',
  details: 'They can read everything that was said in it. People who are already in the room stay.',
  needs: 'server',
  args: { room: "room: name or '#id'", user: { summary: 'users to add', many: true } },
  flags: {},
  examples: ['svc chat invite engines charles', 'svc chat invite engines ada charles --json'],
  async run({ io, api, args }) {
    const { resolveRoom, findPeople } = await import('./room-lookup.ts')
    const { room, title } = await resolveRoom(api, args.room)
    const people = await findPeople(api, args.user)
    const params = { room_id: room.room_id, user_ids: people.map(({ id }) => id) }
    const { room: now } = await api.call(teamChat.actions.invite, params)
    const names = people.map(({ username }) => printable(username)).join(', ')
    io.print(`Now in ${printable(title)}: ${names}.`, now)
  },
})
