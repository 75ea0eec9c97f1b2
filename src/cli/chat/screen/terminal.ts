import { Chalk, type ChalkInstance } from 'chalk'
import type { Line, Span } from './spans.ts'

export interface Frame {
  lines: readonly Line[]
  cursor: { row: number; column: number } | undefined
}

const ESC = '\u001b['
// Alternate screen, no auto-wrap, bracketed paste, focus events.
const ENTER = `${ESC}?1049h${ESC}?7l${ESC}?2004h${ESC}?1004h`
const LEAVE = `${ESC}?1004l${ESC}?2004l${ESC}?7h${ESC}?25h${ESC}?1049l`
// Synchronized output: terminals that support it show a frame at once; others ignore it.
const BEGIN = `${ESC}?2026h${ESC}?25l`
const END = `${ESC}?2026l`

const marks = new Chalk({ level: 1 })

/** A span with escape sequences. Without colours, bold and inverse remain. */
function paintSpan(paint: ChalkInstance, { text, color, bold, dim, italic, underline, inverse }: Span): string {
  if (text === '') return ''
  let style = marks
  if (bold) style = style.bold
  if (dim) style = style.dim
  if (italic) style = style.italic
  if (underline) style = style.underline
  if (inverse) style = style.inverse
  const coloured = color === undefined ? text : colorOf(paint, color)(text)
  return style === marks ? coloured : style(coloured)
}

function colorOf(paint: ChalkInstance, color: string): ChalkInstance {
  if (color.startsWith('#')) return paint.hex(color)
  return { red: paint.red, green: paint.green, yellow: paint.yellow, cyan: paint.cyan }[color] ?? paint
}

/** Draws frames on the terminal; writes only changed lines. */
export function makeTerminal(output: NodeJS.WriteStream, paint: ChalkInstance) {
  let shown: string[] = []
  let isOn = false
  return {
    size: () => ({ rows: output.rows || 24, columns: output.columns || 80 }),
    enter(): void {
      if (isOn) return
      isOn = true
      shown = []
      output.write(ENTER)
    },
    leave(): void {
      if (!isOn) return
      isOn = false
      output.write(LEAVE)
    },
    /** Makes the next frame be drawn completely. */
    forget(): void {
      shown = []
    },
    draw({ lines, cursor }: Frame): void {
      if (!isOn) return
      const next = lines.map((line) => line.map((span) => paintSpan(paint, span)).join(''))
      const changed = next.flatMap((text, row) => (text === shown[row] ? [] : [`${ESC}${row + 1};1H${text}${ESC}K`]))
      const wipe = shown.length === 0 ? `${ESC}2J` : ''
      const place = cursor ? `${ESC}${cursor.row + 1};${cursor.column + 1}H${ESC}?25h` : ''
      shown = next
      output.write(BEGIN + wipe + changed.join('') + place + END)
    },
    bell(): void {
      output.write('\u0007')
    },
  }
}

export type Terminal = ReturnType<typeof makeTerminal>
