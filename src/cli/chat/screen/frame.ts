import { partnerOf, titleOf, type ChatRoom } from '../../../client/chat/room-names.ts'
import type { ChatState } from '../../../client/chat/chat-state.ts'
import type { HistoryLine } from './history-layout.ts'
import { fit, lineWidth, type Line, type Span } from './spans.ts'
import type { Frame } from './terminal.ts'
import { sanitize } from './markup.ts'

/** The state of the screen beside that of the chat. */
export interface View {
  rows: number
  columns: number
  /** Lines of the main area, oldest first; a list or a help text replaces the history. */
  history: readonly HistoryLine[]
  /** Lines of the history hidden below the bottom. */
  scroll: number
  selected: number | undefined
  /** The text field and the label above it. */
  composer: { lines: readonly string[]; row: number; column: number; prompt: string }
  purpose: string | undefined
  status: Line
}

const SIDEBAR = 22
/** Narrowest window with a list of rooms, columns. */
const WITH_SIDEBAR = 72
const MAX_COMPOSER_LINES = 6

export const historyWidth = (columns: number): number =>
  Math.max(10, columns >= WITH_SIDEBAR ? columns - SIDEBAR - 2 : columns)

export const historyRows = (rows: number, composerLines: number): number => heightsOf(rows, composerLines).history

/** Height of each part. Priority in a low window: text field, newest line, rule, status, title. */
function heightsOf(rows: number, composerLines: number) {
  const composer = Math.min(MAX_COMPOSER_LINES, composerLines, Math.max(1, rows - 1))
  const free = Math.max(0, rows - composer)
  const [rule, status, title] = [free > 1 ? 1 : 0, free > 2 ? 1 : 0, free > 3 ? 1 : 0]
  return { title, history: free - rule - status - title, rule, composer, status }
}

export function layoutFrame(state: ChatState, view: View): Frame {
  const { rows, columns, composer } = view
  const heights = heightsOf(rows, composer.lines.length)
  const { composer: shownComposer, history: height } = heights
  const hasSidebar = columns >= WITH_SIDEBAR
  const width = historyWidth(columns)

  const end = Math.max(0, view.history.length - view.scroll)
  const visible = view.history.slice(Math.max(0, end - height), end)
  const side = hasSidebar ? sidebar(state, height) : []
  const middle = Array.from({ length: height }, (_, row): Line => {
    const found = visible[row - (height - visible.length)]
    const text = fit(found ? found.line : [], width)
    const marked = found?.message !== undefined && found.message === view.selected
    const shown = marked ? text.map((span) => ({ ...span, inverse: true })) : text
    return hasSidebar ? [...side[row]!, { text: '│ ', dim: true }, ...shown] : shown
  })

  const from = Math.max(0, Math.min(composer.row - shownComposer + 1, composer.lines.length - shownComposer))
  const written = composer.lines.slice(from, from + shownComposer).map((text, row): Line => {
    const prompt = from + row === 0 ? composer.prompt : ' '.repeat(composer.prompt.length)
    return [{ text: prompt, bold: true }, { text: sanitize(text) }]
  })
  const above = [
    ...(heights.title ? [titleBar(state, columns, hasSidebar)] : []),
    ...middle,
    ...(heights.rule ? [ruleOf(state, view)] : []),
  ]
  return {
    lines: [...above, ...written, ...(heights.status ? [fit(view.status, columns)] : [])],
    cursor: { row: above.length + composer.row - from, column: composer.prompt.length + composer.column },
  }
}

const roomAt = ({ rooms, current }: ChatState): ChatRoom | undefined => rooms.find(({ room_id }) => room_id === current)

function titleBar(state: ChatState, columns: number, hasSidebar: boolean): Line {
  const room = roomAt(state)
  const spans: Span[] = [{ text: ' ' }]
  if (room && state.me) {
    spans.push({ text: sanitize(titleOf(room, state.me.id)), bold: true })
    const partner = partnerOf(room, state.me.id)
    const here = room.participants.filter(({ id }) => state.online.has(id)).length
    if (partner)
      spans.push({ text: `  ${sanitize(partner.display_name)}${state.online.has(partner.id) ? ', online' : ''}` })
    else spans.push({ text: `  ${room.participant_count} members, ${here} online` })
  } else spans.push({ text: state.me ? 'No room is open' : 'Connecting…' })
  if (!hasSidebar) {
    const unread = [...state.unread].reduce((sum, [id, count]) => (id === state.current ? sum : sum + count), 0)
    if (unread > 0) spans.push({ text: `  ${unread} elsewhere`, bold: true })
  }
  const own = state.me ? `${sanitize(state.me.username)} ` : ''
  const left = fit(spans, Math.max(0, columns - own.length))
  return [...left, { text: own }].map((span) => ({ ...span, inverse: true }))
}

function sidebar(state: ChatState, height: number): Line[] {
  const at = state.rooms.findIndex(({ room_id }) => room_id === state.current)
  const first = Math.max(0, Math.min(at - Math.floor(height / 2), state.rooms.length - height))
  return Array.from({ length: height }, (_, row) => {
    const room = state.rooms[first + row]
    return room ? roomLine(state, room) : [{ text: ' '.repeat(SIDEBAR) }]
  })
}

function roomLine(state: ChatState, room: ChatRoom): Line {
  const isOpen = room.room_id === state.current
  const unread = state.unread.get(room.room_id) ?? 0
  const partner = partnerOf(room, state.me?.id ?? 0)
  const dot = partner ? (state.online.has(partner.id) ? '●' : '○') : '#'
  const count = unread === 0 ? '' : unread > 99 ? '99+' : String(unread)
  const end = `${state.mentions.has(room.room_id) ? '@' : ''}${count} `
  const name = titleOf(room, state.me?.id ?? 0).replace(/^@/, '')
  const style = { ...(isOpen ? { inverse: true } : {}), ...(unread > 0 ? { bold: true } : {}) }
  const mark: Span = { text: ` ${dot} `, ...style, ...(dot === '●' && !isOpen ? { color: 'green' } : {}) }
  const named = fit([mark, { text: sanitize(name), ...style }], SIDEBAR - lineWidth([{ text: end }]), style)
  return [...named, { text: end, ...style, ...(unread > 0 && !isOpen ? { color: 'yellow' } : {}) }]
}

/** The rule above the text field: the purpose of the text, or who is typing. */
function ruleOf(state: ChatState, { columns, purpose, scroll }: View): Line {
  const text = purpose ?? typists(state)
  const below = scroll > 0 ? ` ↓ ${scroll} more lines ` : ''
  const label = text ? ` ${text} ` : ''
  const line = fit(
    [{ text: '──' }, { text: label, ...(purpose ? { color: 'cyan' } : {}) }],
    Math.max(0, columns - below.length),
  )
  const filled = line.map((span, index) =>
    index === line.length - 1 ? { ...span, text: '─'.repeat(span.text.length) } : span,
  )
  return [...filled, { text: below, bold: true }].map((span) =>
    span.text.startsWith('─') ? { ...span, dim: true } : span,
  )
}

function typists({ typing }: ChatState): string {
  const names = typing.map(({ display_name }) => sanitize(display_name))
  if (names.length === 0) return ''
  if (names.length > 2) return `${names.length} people are typing…`
  return `${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} typing…`
}
