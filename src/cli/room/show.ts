import { iso } from '../../base/clock.ts'
import { formatSize } from '../../base/sizes.ts'
import { printable } from '../../base/text.ts'
import { command } from '../command.ts'
import { formatTime } from '../time-format.ts'
import { documentOf, findRoom } from './room-details.ts'

export const show = command({
  name: 'room show',
  summary: 'Show one chat room and who is in it',
  needs: 'domain',
  onlyPrints: true,
  args: { room: 'name or ID of the room' },
  flags: {},
  examples: ['svc room show 3', 'svc room show "Difference engines"'],
  async run({ io, domain: { chat }, args }) {
    const { id } = await findRoom(chat, args.room)
    const { people, ...room } = await chat.administration.details(id)
    const lines: [string, string][] = [
      ['ID', String(id)],
      ['Type', room.type],
      ['Created', `${formatTime(room.created_at)} by ${room.created_by ?? 'a removed account'}`],
      [
        'Messages',
        `${room.messages}${room.last_message_at === null ? '' : `, the last ${formatTime(room.last_message_at)}`}`,
      ],
      ['Files', `${room.files}, ${formatSize(room.bytes)}`],
      ['Members', people.length === 0 ? 'nobody' : ''],
    ]
    const words = [
      io.paint.bold(printable(room.name)),
      ...lines.map(([label, text]) => `  ${label.padEnd(10)}${text}`.trimEnd()),
      ...people.map(({ username, display_name, last_active }) => {
        const name = display_name === username ? '' : ` (${printable(display_name)})`
        return `    ${username}${name}, ${last_active === 0 ? 'never active here' : `last active ${formatTime(last_active)}`}`
      }),
    ]
    io.print(words.join('\n'), {
      ...documentOf(room),
      people: people.map(({ joined_at, last_active, ...person }) => ({
        ...person,
        joined_at: iso(joined_at),
        last_active: last_active === 0 ? null : iso(last_active),
      })),
    })
  },
})
