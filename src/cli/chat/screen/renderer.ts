import { printable } from '../../../base/text.ts'
import { errorMessage } from '../../error-message.ts'
import { candidateLine } from './completions.ts'
import type { ConnectionError } from '../../../client/chat/chat-state.ts'
import type { ScreenState, Purpose } from './screen-state.ts'
import { layoutFrame, historyRows, historyWidth } from './frame.ts'
import { helpLines } from './help-text.ts'
import { makeHistoryLayout, type HistoryLine } from './history-layout.ts'
import { slashCommands } from './slash-commands.ts'
import type { Line } from './spans.ts'
import type { Terminal } from './terminal.ts'
import type { makeComposeMode } from './compose-mode.ts'

interface RendererParts {
  terminal: Terminal
  composeMode: ReturnType<typeof makeComposeMode>
}

const PROMPT = '› '
const COMMANDS = Object.entries(slashCommands).map(([name, { args, summary }]) => ({
  usage: `/${name} ${args}`,
  summary,
}))

interface Anchor {
  message: number
  below: number
}

export function makeRenderer(screen: ScreenState, { terminal, composeMode }: RendererParts) {
  const { session, composer } = screen
  const { state } = session
  const history = makeHistoryLayout()
  /** The message at the bottom of a scrolled history and the number of its lines below: new messages do not move it. */
  let anchor: Anchor | undefined
  let isReading = false

  function fieldOf() {
    return screen.mode.kind === 'list' ? screen.mode.list.filter : composer
  }

  function historyLines(width: number): HistoryLine[] {
    const log = state.logs.get(state.current ?? 0)
    return log && state.current !== undefined ? history.lines(state, state.current, log, width) : []
  }

  /** Lines of the main area; updates `scroll`. */
  function mainLines(width: number, rows: number): HistoryLine[] {
    const { mode } = screen
    if (mode.kind === 'list') return mode.list.lines(width, rows)
    if (mode.kind === 'help') {
      const all = helpLines(COMMANDS, width)
      mode.top = Math.min(mode.top, Math.max(0, all.length - rows))
      return Array.from({ length: rows }, (_, row) => ({ line: all[mode.top + row] ?? [] }))
    }
    const lines = historyLines(width)
    if (mode.kind === 'select') showSelected(screen, lines, mode.message, rows)
    else if (screen.scroll > 0 && anchor) {
      const last = lines.findLastIndex(({ message }) => message === anchor!.message)
      if (last >= 0) screen.scroll = lines.length - 1 - last + anchor.below
    }
    screen.scroll = Math.max(0, Math.min(screen.scroll, lines.length - rows))
    anchor = anchorOf(lines, screen.scroll)
    return lines
  }

  function draw(): void {
    const { rows, columns } = terminal.size()
    const prompt = screen.mode.kind === 'list' ? 'Find: ' : PROMPT
    const laid = fieldOf().layout(Math.max(4, columns - prompt.length - 1))
    const height = historyRows(rows, laid.lines.length)
    const isOther = screen.mode.kind === 'list' || screen.mode.kind === 'help'
    const lines = mainLines(historyWidth(columns), height)
    const frame = layoutFrame(state, {
      rows,
      columns,
      history: lines,
      scroll: isOther ? 0 : screen.scroll,
      selected: screen.mode.kind === 'select' ? screen.mode.message : undefined,
      composer: { ...laid, prompt },
      purpose: screen.purpose && printable(screen.purpose.label),
      status: statusOf(screen, composeMode, columns),
    })
    terminal.draw(screen.mode.kind === 'write' || screen.mode.kind === 'list' ? frame : { ...frame, cursor: undefined })
  }

  return {
    draw,
    /** Scrolls a page back (1) or forward (-1); loads the page before the oldest known message. */
    scroll(pages: 1 | -1): void {
      const { rows, columns } = terminal.size()
      const height = historyRows(rows, 1)
      const { length } = historyLines(historyWidth(columns))
      anchor = undefined
      screen.scroll = Math.max(0, screen.scroll + pages * Math.max(1, height - 2))
      if (pages < 0 || isReading || screen.scroll < length - height) return
      isReading = true
      screen.runTask(() => session.older().finally(() => (isReading = false)))
    },
  }
}

function anchorOf(lines: readonly HistoryLine[], scroll: number): Anchor | undefined {
  if (scroll === 0) return undefined
  const bottom = lines.length - 1 - scroll
  const message = lines.findLast((line, index) => index <= bottom && line.message !== undefined)?.message
  if (message === undefined) return undefined
  return { message, below: lines.findLastIndex((line) => line.message === message) - bottom }
}

/** Scrolls just far enough to show the selected message. */
function showSelected(screen: ScreenState, lines: readonly HistoryLine[], message: number, rows: number): void {
  const first = lines.findIndex((line) => line.message === message)
  const last = lines.findLastIndex((line) => line.message === message)
  if (first < 0) return screen.write()
  const end = lines.length - screen.scroll
  if (last >= end) screen.scroll = lines.length - 1 - last
  else if (first < end - rows) screen.scroll = lines.length - Math.min(lines.length, first + rows)
}

function statusOf(screen: ScreenState, composeMode: RendererParts['composeMode'], columns: number): Line {
  const { mode, notice } = screen
  const { connectionError } = screen.session.state
  if (mode.kind === 'confirm') return [{ text: ` ${mode.question} `, bold: true }, { text: 'y or n' }]
  if (notice) return [notice]
  if (connectionError) return [{ text: ` ${errorText(connectionError)} `, color: 'yellow', inverse: true }]
  const offered = composeMode.offered()
  if (offered) return candidateLine(offered, composeMode.chosen())
  const hints = (screen.purpose ? PURPOSES[screen.purpose.kind] : HINTS[mode.kind]).split(SEPARATOR)
  // In a narrow terminal the first and the last stay.
  while (hints.length > 2 && hints.join(SEPARATOR).length > columns - 2) hints.splice(-2, 1)
  return [{ text: ` ${hints.join(SEPARATOR)}`, dim: true }]
}

const SEPARATOR = ' · '

const errorText = ({ kind, error }: ConnectionError): string =>
  kind === 'signed-out'
    ? 'You are signed out. Run svc login in another terminal; this screen then continues.'
    : `${printable(errorMessage(error)).replace(/(: (check|try|if|name) .*|\.)$/, '')} · trying again`

const HINTS: Record<ScreenState['mode']['kind'], string> = {
  write: 'Enter sends · Alt-Enter new line · Tab choose · Ctrl-G go to · F1 help',
  select: 'r reply · e edit · d delete · + react · Up and Down choose · Esc back',
  list: 'Type to narrow down · Enter chooses · Esc back',
  help: 'Up and Down scroll · Esc closes',
  confirm: '',
}

const PURPOSES: Record<Purpose['kind'], string> = {
  edit: 'Enter saves · Esc discards the change',
  reply: 'Enter sends · Esc cancels the reply',
  react: 'Enter reacts, or removes the reaction · Esc cancels',
  search: 'Enter searches · Esc cancels',
}
