import type { MessageRecord, RoomRecord } from './records.ts'

const encoder = new TextEncoder()

const minute = (moment: string): string => moment.slice(0, 16).replace('T', ' ')

const firstLine = (text: string): string => {
  const line = text.split('\n', 1)[0]!
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

/** Most messages kept for quotes in replies. */
const QUOTABLE = 5_000

/** A room's messages as Markdown: an archive could forge messages of others, so they are not posted again. */
export async function* chatDocument(
  { name, type, members }: RoomRecord,
  messages: AsyncIterable<MessageRecord>,
  exportedAt: string,
): AsyncGenerator<Uint8Array> {
  const people = members.map(({ username, display_name }) => `${display_name} (${username})`).join(', ')
  const kind = type === 'dm' ? 'Conversation' : 'Channel'
  yield encoder.encode(`# ${name}\n\n${kind} with ${people || 'nobody'}, as of ${minute(exportedAt)} UTC.\n`)
  const quotable = new Map<number, string>()
  for await (const { id, from, name: shown, text, at, edited_at, reply_to, reactions } of messages) {
    quotable.set(id, `${shown}: ${firstLine(text)}`)
    if (quotable.size > QUOTABLE) quotable.delete(quotable.keys().next().value!)
    const quoted = reply_to === null ? undefined : quotable.get(reply_to)
    const lines = [
      `\n---\n\n**${shown}** (${from}) · ${minute(at)}${edited_at === null ? '' : ' (edited)'}\n`,
      ...(quoted === undefined ? [] : [`> ${quoted}\n`]),
      `${text}\n`,
      ...(reactions.length === 0
        ? []
        : [reactions.map(({ emoji, users }) => `${emoji} ${users.join(', ')}`).join(' · ') + '\n']),
    ]
    yield encoder.encode(lines.join('\n'))
  }
}
