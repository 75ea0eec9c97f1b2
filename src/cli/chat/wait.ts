import { formatDuration } from '../../base/durations.ts'
import type { Api } from '../../client/api.ts'
import { teamChat } from '../../contract/team-chat.ts'
import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'

const DEFAULT_TIMEOUT = 600_000
/** The longest that a timer of Node lasts, milliseconds. */
const MAX_TIMEOUT = 2_147_483_647

export const wait = command({
  name: 'chat wait',
  summary: 'Wait until somebody says something that matches, and print it',
  details:
    'Exit code 0 when the message is there, 1 when the time is over. Counts is what is said from the start of the command on, or with ' +
    '--after from a message on, so that an answer is not missed that comes before one waits. Patterns are those of RE2: as usual, but ' +
    'without backreferences and lookaround; (?i) in front makes upper and lower case the same.',
  needs: 'server',
  args: { room: "room: name, '#id' or @user" },
  flags: {
    match: flag.text('regular expression that is found in the message', 'REGEX'),
    timeout: flag.duration('how long to wait, 10m by default'),
    from: flag.text('only messages of this user', 'USER'),
    after: flag.text('from this message on: its number', 'ID'),
  },
  examples: [
    'svc chat wait general --match "^deployed"',
    'svc chat wait @ada --match "(?i)\\byes\\b" --from ada --timeout 1h',
    'svc chat wait general --match done --after 4711 --json',
  ],
  async run({ io, api, args, flags }) {
    if (flags.match === undefined) throw usage('Say what to wait for: --match REGEX.')
    const matches = await compile(flags.match)
    const timeout = flags.timeout ?? DEFAULT_TIMEOUT
    if (timeout > MAX_TIMEOUT) throw usage(`--timeout must be at most ${formatDuration(MAX_TIMEOUT)}.`)
    const { messageId } = await import('./message-id.ts')
    const { resolveRoom, findPeople } = await import('./room-lookup.ts')
    const { follow } = await import('./room-follower.ts')
    const { transcript } = await import('./message-text.ts')
    const mark = flags.after === undefined ? undefined : messageId(flags.after)
    const { room } = await resolveRoom(api, args.room)
    const [from] = flags.from === undefined ? [] : await findPeople(api, [flags.from])
    // What was last said when the rooms were read is the past; everything after it is looked at.
    const after = mark
      ? await timeOfMessage(api, room.room_id, mark)
      : (room.last_message?.timestamp ?? room.created_at)

    const timedOut = new Exit(1, `Nobody said so within ${formatDuration(timeout)}.`, 'timeout')
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(timedOut), timeout)
    try {
      const polls = await follow({ io, api }, { room: room.room_id, after, signal: controller.signal, isStream: false })
      for await (const { messages } of polls) {
        const found = messages.find(({ user_id, content }) => (!from || user_id === from.id) && matches(content))
        if (!found) continue
        io.print(transcript(found, io.paint), found)
        return
      }
    } finally {
      clearTimeout(timer)
    }
  },
})

/** RE2 needs time in proportion to the text, whatever the pattern: nothing somebody says can make it hang. */
async function compile(pattern: string): Promise<(text: string) => boolean> {
  const { RE2JS } = await import('re2js')
  try {
    const compiled = RE2JS.compile(pattern, RE2JS.MULTILINE)
    return (text) => compiled.matcher(text).find()
  } catch (error) {
    throw usage(`--match is no regular expression: ${(error as Error).message}.`)
  }
}

async function timeOfMessage(api: Api, room_id: number, message: number): Promise<string> {
  const { messages } = await api.call(teamChat.actions.messages, { room_id, limit: 200 })
  const found = messages.find(({ message_id }) => message_id === message)
  if (!found) throw new Exit(5, `#${message} is not among the last 200 messages of the room.`, 'not_found')
  return found.timestamp
}
