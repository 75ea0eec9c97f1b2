import { printable } from '../../../base/text.ts'
import { errorMessage } from '../../error-message.ts'
import { candidateLine } from './complete.ts'
import type { Trouble } from '../../../client/chat/state.ts'
import type { Desk, Purpose } from './desk.ts'
import { frameOf, historyRows, historyWidth } from './frame.ts'
import { helpLines } from './help-text.ts'
import { makeHistory, type HistoryLine } from './history.ts'
import { slashes } from './slash.ts'
import type { Line } from './spans.ts'
import type { Terminal } from './terminal.ts'
import type { makeWriting } from './write.ts'

interface Parts {
  terminal: Terminal
  writing: ReturnType<typeof makeWriting>
}

const PROMPT = '› '
const COMMANDS = Object.entries(slashes).map(([name, { args, summary }]) => ({ usage: `/${name} ${args}`, summary }))

interface Anchor {
  message: number
  below: number
}

/** Puts the state of the desk on the terminal. */
export function makeDrawing(desk: Desk, { terminal, writing }: Parts) {
  const { session, composer } = desk
  const { state } = session
  const history = makeHistory()
  /** The message at the bottom of what is shown, and how many of its lines are below: there it stays when others come. */
  let anchor: Anchor | undefined
  let isReading = false

  function fieldOf() {
    return desk.mode.kind === 'list' ? desk.mode.list.filter : composer
  }

  function historyLines(width: number): HistoryLine[] {
    const log = state.logs.get(state.current ?? 0)
    return log && state.current !== undefined ? history.lines(state, state.current, log, width) : []
  }

  /** The lines of the middle; sets how far they are scrolled. */
  function middle(width: number, rows: number): HistoryLine[] {
    const { mode } = desk
    if (mode.kind === 'list') return mode.list.lines(width, rows)
    if (mode.kind === 'help') {
      const all = helpLines(COMMANDS)
      mode.top = Math.min(mode.top, Math.max(0, all.length - rows))
      return Array.from({ length: rows }, (_, row) => ({ line: all[mode.top + row] ?? [] }))
    }
    const lines = historyLines(width)
    if (mode.kind === 'select') showSelected(desk, lines, mode.message, rows)
    else if (desk.scroll > 0 && anchor) {
      const last = lines.findLastIndex(({ message }) => message === anchor!.message)
      if (last >= 0) desk.scroll = lines.length - 1 - last + anchor.below
    }
    desk.scroll = Math.max(0, Math.min(desk.scroll, lines.length - rows))
    anchor = anchorOf(lines, desk.scroll)
    return lines
  }

  function draw(): void {
    const { rows, columns } = terminal.size()
    const prompt = desk.mode.kind === 'list' ? 'Find: ' : PROMPT
    const laid = fieldOf().layout(Math.max(4, columns - prompt.length - 1))
    const height = historyRows(rows, laid.lines.length)
    const isOther = desk.mode.kind === 'list' || desk.mode.kind === 'help'
    const lines = middle(historyWidth(columns), height)
    const frame = frameOf(state, {
      rows,
      columns,
      history: lines,
      scroll: isOther ? 0 : desk.scroll,
      selected: desk.mode.kind === 'select' ? desk.mode.message : undefined,
      composer: { ...laid, prompt },
      purpose: desk.purpose && printable(desk.purpose.label),
      status: statusOf(desk, writing),
    })
    terminal.draw(desk.mode.kind === 'write' || desk.mode.kind === 'list' ? frame : { ...frame, cursor: undefined })
  }

  return {
    draw,
    /** Goes a page back (1) or on (-1); where the known history ends, the page before it is read. */
    scroll(pages: 1 | -1): void {
      const { rows, columns } = terminal.size()
      const height = historyRows(rows, 1)
      const { length } = historyLines(historyWidth(columns))
      anchor = undefined
      desk.scroll = Math.max(0, desk.scroll + pages * Math.max(1, height - 2))
      if (pages < 0 || isReading || desk.scroll < length - height) return
      isReading = true
      desk.doing(() => session.older().finally(() => (isReading = false)))
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

/** Scrolls no further than it takes to see the message that is chosen. */
function showSelected(desk: Desk, lines: readonly HistoryLine[], message: number, rows: number): void {
  const first = lines.findIndex((line) => line.message === message)
  const last = lines.findLastIndex((line) => line.message === message)
  if (first < 0) return desk.write()
  const end = lines.length - desk.scroll
  if (last >= end) desk.scroll = lines.length - 1 - last
  else if (first < end - rows) desk.scroll = lines.length - Math.min(lines.length, first + rows)
}

/** The last line: what is asked, what is wrong, what was said, what Tab would complete, or what keys there are. */
function statusOf(desk: Desk, writing: Parts['writing']): Line {
  const { mode, notice } = desk
  const { trouble } = desk.session.state
  if (mode.kind === 'confirm') return [{ text: ` ${mode.question} `, bold: true }, { text: 'y or n' }]
  if (notice) return [notice]
  if (trouble) return [{ text: ` ${troubleText(trouble)} `, color: 'yellow', inverse: true }]
  const offered = writing.offered()
  if (offered) return candidateLine(offered, writing.chosen())
  return [{ text: ` ${desk.purpose ? PURPOSES[desk.purpose.kind] : HINTS[mode.kind]}`, dim: true }]
}

const troubleText = ({ kind, error }: Trouble): string =>
  kind === 'signed-out'
    ? 'You are signed out. Run svc login in another terminal: this goes on by itself.'
    : `${printable(errorMessage(error)).replace(/(: (check|try) .*|\.)$/, '')} · trying again`

const HINTS: Record<Desk['mode']['kind'], string> = {
  write: 'Enter sends · Alt-Enter new line · Tab choose · Ctrl-G go to · F1 help',
  select: 'r reply · e edit · d delete · + react · Up and Down choose · Esc back',
  list: 'Type to narrow down · Enter chooses · Esc back',
  help: 'Up and Down scroll · Esc closes',
  confirm: '',
}

const PURPOSES: Record<Purpose['kind'], string> = {
  edit: 'Enter saves · Esc leaves it as it was',
  reply: 'Enter sends · Esc replies to nothing',
  react: 'Enter reacts, or takes the reaction back · Esc ends',
  search: 'Enter searches · Esc ends',
}
