import type { ChalkInstance } from 'chalk'
import { printable } from '../../base/text.ts'
import type { Message } from '../../client/chat/room-feed.ts'
import { formatTime } from '../time-format.ts'

const INDENT = '    '

const safeLines = (text: string): string[] =>
  text
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', '    ')
    .split('\n')
    .map((line) => printable(line))

const paintedName = (paint: ChalkInstance, { username, avatar_color }: Message): string =>
  /^#[0-9a-f]{6}$/i.test(avatar_color)
    ? paint.hex(avatar_color).bold(printable(username))
    : paint.bold(printable(username))

/** Formats a message: time, ID, author and text; further lines are indented. */
export function transcript(message: Message, paint: ChalkInstance): string {
  const { message_id, timestamp, content, edited_at, reply_to, reactions } = message
  const [first = '', ...rest] = safeLines(content)
  const stamp = paint.dim(`${formatTime(Date.parse(timestamp))} #${message_id}`)
  const answer = reply_to === null ? '' : paint.dim(` (to #${reply_to})`)
  const edited = edited_at === null ? '' : paint.dim(' (edited)')
  const lines = [`${stamp} ${paintedName(paint, message)}${answer}: ${first}`, ...rest.map((line) => INDENT + line)]
  lines[lines.length - 1] += edited
  if (reactions.length > 0)
    lines.push(INDENT + reactions.map(({ emoji, count }) => `${printable(emoji)} ${count}`).join('  '))
  return lines.join('\n')
}
