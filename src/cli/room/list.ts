import { formatSize } from '../../base/sizes.ts'
import { command } from '../command.ts'
import { formatTime } from '../time-format.ts'
import { documentOf } from './room-details.ts'

export const list = command({
  name: 'room list',
  summary: 'List every chat room: who is in it and how much it holds, but no messages',
  needs: 'domain',
  onlyPrints: true,
  args: {},
  flags: {},
  examples: ['svc room list', 'svc room list --json'],
  async run({ io, domain: { chat } }) {
    const rooms = await chat.administration.list()
    io.table(
      rooms,
      [
        { title: 'ID', value: ({ id }) => id, align: 'right' },
        { title: 'ROOM', value: ({ name }) => name },
        { title: 'TYPE', value: ({ type }) => type },
        { title: 'MEMBERS', value: ({ members }) => members, align: 'right' },
        { title: 'MESSAGES', value: ({ messages }) => messages, align: 'right' },
        { title: 'FILES', value: ({ files }) => files, align: 'right' },
        { title: 'SIZE', value: ({ bytes }) => formatSize(bytes), align: 'right' },
        {
          title: 'LAST MESSAGE',
          value: ({ last_message_at }) => (last_message_at === null ? 'none' : formatTime(last_message_at)),
        },
      ],
      'There are no rooms yet.',
      rooms.map(documentOf),
    )
  },
})
