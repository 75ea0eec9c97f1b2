import { teamChat } from '../../contract/team-chat.ts'
import { command, flag } from '../command.ts'

export const tail = command({
  name: 'chat tail',
  summary: 'Print the last messages of a room, and new ones as they arrive',
  details:
    'Runs until interrupted. While the server is not reachable it waits, and no message is missed. With --json each line is an object with an ' +
    'event: message, changed (edited, or reacted to), deleted, offline, online.',
  needs: 'server',
  onlyPrints: true,
  args: { room: "room: name, '#id' or @user" },
  flags: { limit: flag.integer('start with this many messages (10)', 'N', 0, 200) },
  examples: ['svc chat tail general', 'svc chat tail @ada --limit 0 --json'],
  async run({ io, api, args, flags }) {
    const { resolveRoom } = await import('./room-lookup.ts')
    const { follow } = await import('./room-follower.ts')
    const { transcript } = await import('./transcript.ts')
    const { room } = await resolveRoom(api, args.room)
    const { room_id } = room
    const limit = flags.limit ?? 10
    const { messages } = await api.call(teamChat.actions.messages, { room_id, limit: Math.max(1, limit) })
    const after = messages.at(-1)?.timestamp ?? room.created_at
    for (const message of limit === 0 ? [] : messages)
      io.event(transcript(message, io.paint), { event: 'message', message })

    const signal = new AbortController().signal
    for await (const polled of await follow({ io, api }, { room: room_id, after, signal, isStream: true })) {
      const fresh = new Set(polled.messages.map(({ message_id }) => message_id))
      for (const message of polled.messages) io.event(transcript(message, io.paint), { event: 'message', message })
      for (const message of polled.changed) {
        if (fresh.has(message.message_id)) continue
        io.event(`${io.paint.dim('changed:')} ${transcript(message, io.paint)}`, { event: 'changed', message })
      }
      for (const message_id of polled.deleted)
        io.event(io.paint.dim(`deleted: #${message_id}`), { event: 'deleted', message_id })
    }
  },
})
