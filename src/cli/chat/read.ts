import { teamChat } from '../../contract/team-chat.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import { parseTime } from '../time-format.ts'

export const read = command({
  name: 'chat read',
  summary: 'Show the last messages of a room, oldest first',
  details: 'Reading does not mark messages as read; --mark does.',
  needs: 'server',
  onlyPrints: ({ flags }) => !flags['mark'],
  args: { room: "room: name, '#id' or @user" },
  flags: {
    limit: flag.integer('maximum number of messages (50)', 'N', 1, 200),
    before: flag.text('only messages before a time, such as 2h, 15:00 or 2026-11-22T10:00:00Z', 'WHEN'),
    mark: flag.switch('mark the room as read'),
  },
  examples: [
    'svc chat read general',
    'svc chat read @ada --limit 10 --mark',
    'svc chat read general --before 2d --json',
  ],
  async run({ io, api, args, flags }) {
    const { resolveRoom } = await import('./room-lookup.ts')
    const { systemClock } = await import('../../base/clock.ts')
    const { transcript } = await import('./transcript.ts')
    const before = flags.before === undefined ? undefined : parseTime(flags.before, systemClock.now(), 'back')
    if (flags.before !== undefined && before === undefined)
      throw usage(`--before must be a time such as 2h, 15:00 or 2026-11-22, not "${flags.before}".`)
    const { room } = await resolveRoom(api, args.room)
    const { messages, has_more } = await api.call(teamChat.actions.messages, {
      room_id: room.room_id,
      limit: flags.limit ?? 50,
      ...(before === undefined ? {} : { before: new Date(before).toISOString() }),
    })
    if (flags.mark) await api.call(teamChat.actions.read, { room_id: room.room_id }, { repeatable: true })
    if (io.json) io.print('', { room_id: room.room_id, name: room.name, messages, has_more })
    else if (messages.length === 0) io.info('There are no messages.')
    else io.print(messages.map((message) => transcript(message, io.paint)).join('\n'), undefined)
  },
})
