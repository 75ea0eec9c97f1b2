import { formatDuration } from '../../base/durations.ts'
import type { Api } from '../../client/api.ts'
import { teamChat } from '../../contract/team-chat.ts'
import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'

const DEFAULT_TIMEOUT = 600_000
/** Longest timer of Node, ms. */
const MAX_TIMEOUT = 2_147_483_647

export const wait = command({
  name: 'chat wait',
  summary: 'Wait for a message that matches, and print it',
  details:
    'Exit code 0 when the message arrived, 1 on timeout. Messages count from the start of the command, or with ' +
    '--after from after that message, so that an answer given earlier is not missed. Patterns use the syntax of RE2: regular expressions ' +
    'without backreferences and lookaround; (?i) at the start ignores case.',
  needs: 'server',
  args: { room: "room: name, '#id' or @user" },
  flags: {
    match: flag.text('regular expression to find in the message', 'REGEX'),
    timeout: flag.duration('how long to wait (10m)'),
    from: flag.text('only messages of this user', 'USER'),
    after: flag.text('number of the message to start after', 'ID'),
  },
  examples: [
    'svc chat wait general --match "^deployed"',
    'svc chat wait @ada --match "(?i)\\byes\\b" --from ada --timeout 1h',
    'svc chat wait general --match done --after 4711 --json',
  ],
  async run({ io, api, args, flags }) {
    if (flags.match === undefined) throw usage('Give what to wait for: --match REGEX.')
    const matches = await compile(flags.match)
    const timeout = flags.timeout ?? DEFAULT_TIMEOUT
    if (timeout > MAX_TIMEOUT) throw usage(`--timeout must be at most ${formatDuration(MAX_TIMEOUT)}.`)
    const { messageId } = await import('./message-id.ts')
    const { resolveRoom, findPeople } = await import('./room-lookup.ts')
    const { follow } = await import('./room-follower.ts')
    const { transcript } = await import('./transcript.ts')
    const mark = flags.after === undefined ? undefined : messageId(flags.after)
    const { room } = await resolveRoom(api, args.room)
    const [from] = flags.from === undefined ? [] : await findPeople(api, [flags.from])
    // Messages up to the newest one of the room list are old; all later ones are checked.
    const after = mark
      ? await timeOfMessage(api, room.room_id, mark)
      : (room.last_message?.timestamp ?? room.created_at)

    const timedOut = new Exit(1, `No matching message within ${formatDuration(timeout)}.`, 'timeout')
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

/** RE2 matches in linear time, whatever the pattern. */
async function compile(pattern: string): Promise<(text: string) => boolean> {
  const { RE2JS } = await import('re2js')
  try {
    const compiled = RE2JS.compile(pattern, RE2JS.MULTILINE)
    return (text) => compiled.matcher(text).find()
  } catch (error) {
    throw usage(`--match is not a regular expression: ${(error as Error).message}.`)
  }
}

async function timeOfMessage(api: Api, room_id: number, message: number): Promise<string> {
  const { messages } = await api.call(teamChat.actions.messages, { room_id, limit: 200 })
  const found = messages.find(({ message_id }) => message_id === message)
  if (!found) throw new Exit(5, `#${message} is not among the last 200 messages of the room.`, 'not_found')
  return found.timestamp
}
