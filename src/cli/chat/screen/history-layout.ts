import type { Message } from '../../../client/chat/room-feed.ts'
import type { Log } from '../../../client/chat/message-log.ts'
import type { ChatState, Pending } from '../../../client/chat/chat-state.ts'
import { parseMarkup, sanitize } from './markup.ts'
import { readableColor } from './name-color.ts'
import { clip, wrap, type Line, type Span } from './spans.ts'

export interface HistoryLine {
  line: Line
  message?: number
}

/** Messages of one author within this time share one heading, ms. */
const GROUP_MS = 5 * 60_000
const INDENT = '  '

interface CachedLines {
  width: number
  isFirst: boolean
  quoted: Message | undefined
  lines: HistoryLine[]
}

/** Lays out histories and caches the lines of unchanged messages. */
export function makeHistoryLayout() {
  let laid = new WeakMap<Message, CachedLines>()
  let forName: string | undefined

  function linesOf(message: Message, isFirst: boolean, quoted: Message | undefined, width: number): HistoryLine[] {
    const known = laid.get(message)
    if (known && known.width === width && known.isFirst === isFirst && known.quoted === quoted) return known.lines
    const lines = layOut(message, { isFirst, quoted, width, me: forName })
    laid.set(message, { width, isFirst, quoted, lines })
    return lines
  }

  return {
    /** The history of a room at a width, oldest line first. */
    lines(state: ChatState, room: number, log: Log, width: number): HistoryLine[] {
      if (forName !== state.me?.username) {
        laid = new WeakMap()
        forName = state.me?.username
      }
      const byId = new Map(log.messages.map((message) => [message.message_id, message]))
      const all: HistoryLine[] = []
      if (!log.hasMore) all.push(rule('This is where the room begins', width, { dim: true }))
      let before: Message | undefined
      for (const message of log.messages) {
        const isNewDay = !before || dayOf(before) !== dayOf(message)
        if (isNewDay) all.push(rule(dayOf(message), width, { dim: true }))
        const isNew = state.newFrom === message.message_id
        if (isNew) all.push(rule('New messages', width, { color: 'red' }))
        const isFirst = isNewDay || isNew || !before || !isSameGroup(before, message)
        const quoted = message.reply_to === null ? undefined : byId.get(message.reply_to)
        all.push(...linesOf(message, isFirst, quoted, width))
        before = message
      }
      const own = state.pending.filter((pending) => pending.room_id === room)
      return [...all, ...own.flatMap((pending) => pendingLines(pending, width))]
    },
  }
}

const isSameGroup = (a: Message, b: Message): boolean =>
  a.user_id === b.user_id && b.reply_to === null && Date.parse(b.timestamp) - Date.parse(a.timestamp) < GROUP_MS

const DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

const days = new WeakMap<Message, string>()
function dayOf(message: Message): string {
  let day = days.get(message)
  if (day === undefined) days.set(message, (day = DAY.format(Date.parse(message.timestamp))))
  return day
}

function rule(text: string, width: number, style: Omit<Span, 'text'>): HistoryLine {
  const room = Math.max(0, width - text.length - 2)
  const left = Math.min(3, room)
  const line = `${'─'.repeat(left)} ${text} ${'─'.repeat(Math.max(0, room - left))}`
  return { line: clip([{ ...style, text: line }], width) }
}

/** A name in the colour of its user. */
export function nameSpan({ username, avatar_color }: Pick<Message, 'username' | 'avatar_color'>): Span {
  const color = readableColor(avatar_color)
  return { text: sanitize(username), bold: true, ...(color === undefined ? {} : { color }) }
}

interface MessageLayout {
  isFirst: boolean
  quoted: Message | undefined
  width: number
  me: string | undefined
}

function layOut(message: Message, { isFirst, quoted, width, me }: MessageLayout): HistoryLine[] {
  const { message_id, timestamp, content, edited_at, reply_to, reactions, display_name, username } = message
  const lines: Line[] = []
  if (isFirst) {
    const named: Span[] = [nameSpan(message)]
    if (display_name !== username) named.push({ text: ` ${sanitize(display_name)}`, dim: true })
    named.push({ text: `  ${TIME.format(Date.parse(timestamp))}`, dim: true })
    lines.push(clip(named, width))
  }
  if (reply_to !== null) {
    const said = quoted
      ? `${quoted.username}: ${quoted.content.replace(/\s+/g, ' ')}`
      : `an older message, #${reply_to}`
    lines.push(clip([{ text: `${INDENT}↳ ${sanitize(said)}`, dim: true }], width))
  }
  const text = parseMarkup(content, me).flatMap((line) => wrap(line, width - INDENT.length))
  if (edited_at !== null) {
    const last = text.at(-1) ?? []
    text.splice(-1, 1, ...wrap([...last, { text: ' (edited)', dim: true }], width - INDENT.length))
  }
  for (const line of text) lines.push([{ text: INDENT }, ...line])
  if (reactions.length > 0) {
    const spans = reactions.flatMap(({ emoji, count, mine }): Span[] => [
      { text: `${sanitize(emoji)} ${count}`, ...(mine ? { bold: true, color: 'cyan' } : { dim: true }) },
      { text: '  ' },
    ])
    for (const line of wrap(spans, width - INDENT.length)) lines.push([{ text: INDENT }, ...line])
  }
  return lines.map((line) => ({ line, message: message_id }))
}

const pendingLines = ({ content }: Pending, width: number): HistoryLine[] =>
  parseMarkup(content, undefined).flatMap((line, index) =>
    wrap(
      [...line.map((span) => ({ ...span, dim: true })), ...(index === 0 ? [{ text: ' (sending)', dim: true }] : [])],
      width - INDENT.length,
    ).map((each) => ({ line: [{ text: INDENT }, ...each] })),
  )
