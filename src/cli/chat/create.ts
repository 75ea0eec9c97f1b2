import { printable } from '../../base/text.ts'
import { teamChat } from '../../contract/team-chat.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'

export const create = command({
  name: 'chat create',
  summary: 'Create a room, or with --dm a direct conversation',
  details:
    'Rooms can share a name. With --if-missing an existing room of the name is used, and members who are not in it yet are ' +
    'added. A direct conversation between two users exists once; creating it again returns it.',
  needs: 'server',
  args: { name: { summary: 'name of the room', optional: true } },
  flags: {
    member: flag.many('user to add from the start', 'USER'),
    dm: flag.text('open the direct conversation with this user', 'USER'),
    ifMissing: flag.switch('only if you are in no room of this name'),
  },
  examples: [
    'svc chat create engines --member ada --member charles',
    'svc chat create --dm ada',
    'svc chat create builds --if-missing --json',
  ],
  async run({ io, api, args, flags }) {
    const { readRooms, openDirectRoom, findPeople } = await import('./room-lookup.ts')
    if (flags.dm !== undefined) {
      if (args.name !== undefined || flags.member.length > 0 || flags.ifMissing)
        throw usage('Give --dm alone: a direct conversation has no name and no further members.')
      const room = await openDirectRoom(api, flags.dm)
      const other = room.participants.map(({ username }) => username)
      io.print(`The conversation of ${printable(other.join(' and '))} is #${room.room_id}.`, room)
      return
    }
    if (args.name === undefined) throw usage('Give the name of the room, or with --dm the user to talk to.')
    const name = args.name.trim().normalize('NFC')
    const people = await findPeople(api, flags.member)
    const ids = people.map(({ id }) => id)
    const there = flags.ifMissing
      ? (await readRooms(api)).rooms.find((room) => room.type === 'channel' && room.name.normalize('NFC') === name)
      : undefined
    if (there) {
      const missing = ids.filter((id) => !there.participants.some((person) => person.id === id))
      const params = { room_id: there.room_id, user_ids: missing }
      const room = missing.length === 0 ? there : (await api.call(teamChat.actions.invite, params)).room
      io.print(`You are already in ${printable(name)}: #${room.room_id}.`, room)
      return
    }
    const params = { name: args.name, type: 'channel' as const, participants: ids }
    const { room } = await api.call(teamChat.actions.create_room, params)
    io.print(`Opened ${printable(room.name)}: #${room.room_id}.`, room)
  },
})
