import { graphemesOf, widthOf } from './spans.ts'

/** A text that is being written, with a cursor in it. */
export interface Composer {
  text: () => string
  /** What stands before the cursor. */
  before: () => string
  set: (text: string) => void
  insert: (text: string) => void
  /** Replaces the last `length` UTF-16 code units before the cursor. */
  replaceBefore: (length: number, text: string) => void
  /** Carries out a key; false when it means nothing here. */
  key: (key: string) => boolean
  /** The text in lines of a width, and where the cursor is in them. */
  layout: (width: number) => { lines: string[]; row: number; column: number }
}

interface Field {
  /** The text by graphemes; the cursor stands before the one at `at`. */
  parts: string[]
  at: number
  /** What was last cut. */
  cut: string
  /** Columns when it was last shown: up and down go by what is seen. */
  width: number
}

/** A text field of several lines with the keys that shells have. */
export function makeComposer(): Composer {
  const field: Field = { parts: [], at: 0, cut: '', width: 80 }
  const before = (): string => field.parts.slice(0, field.at).join('')
  function put(head: string): void {
    // Typed marks join the letter before them.
    field.parts = graphemesOf(head + field.parts.slice(field.at).join(''))
    field.at = graphemesOf(head).length
  }
  return {
    text: () => field.parts.join(''),
    before,
    set(text) {
      field.parts = graphemesOf(text)
      field.at = field.parts.length
    },
    insert: (text) => put(before() + text),
    replaceBefore(length, text) {
      const head = before()
      put(head.slice(0, head.length - length) + text)
    },
    key(key) {
      if (key === 'up' || key === 'down') return vertical(field, key === 'up' ? -1 : 1)
      if (key === 'ctrl-y') put(before() + field.cut)
      else if (Object.hasOwn(MOVES, key)) field.at = MOVES[key]!(field)
      else if (Object.hasOwn(CUTS, key)) remove(field, CUTS[key]!(field), !/backspace$|^delete$|^ctrl-h$/.test(key))
      else return false
      return true
    },
    layout(width) {
      field.width = width
      const all = positionsOf(field)
      const lines = Array.from({ length: all.at(-1)!.row + 1 }, () => '')
      for (const [index, part] of field.parts.entries()) if (part !== '\n') lines[all[index]!.row] += part
      return { lines, ...all[field.at]! }
    },
  }
}

type Move = (field: Field) => number

const isWord = (grapheme: string | undefined): boolean => grapheme !== undefined && /[\p{L}\p{N}_]/u.test(grapheme)

const wordBack: Move = ({ parts, at }) => {
  let place = at
  while (place > 0 && !isWord(parts[place - 1])) place--
  while (place > 0 && isWord(parts[place - 1])) place--
  return place
}

const wordOn: Move = ({ parts, at }) => {
  let place = at
  while (place < parts.length && !isWord(parts[place])) place++
  while (place < parts.length && isWord(parts[place])) place++
  return place
}

// A negative position would be counted from the end.
const lineStart: Move = ({ parts, at }) => (at === 0 ? 0 : parts.lastIndexOf('\n', at - 1) + 1)

const lineEnd: Move = ({ parts, at }) => {
  const end = parts.indexOf('\n', at)
  return end < 0 ? parts.length : end
}

const back: Move = ({ at }) => Math.max(0, at - 1)
const on: Move = ({ parts, at }) => Math.min(parts.length, at + 1)

/** Keys that move the cursor. */
const MOVES: Record<string, Move> = {
  left: back,
  'ctrl-b': back,
  right: on,
  'ctrl-f': on,
  home: lineStart,
  'ctrl-a': lineStart,
  end: lineEnd,
  'ctrl-e': lineEnd,
  'ctrl-left': wordBack,
  'alt-left': wordBack,
  'alt-b': wordBack,
  'ctrl-right': wordOn,
  'alt-right': wordOn,
  'alt-f': wordOn,
}

/** Keys that remove what lies between the cursor and a place. */
const CUTS: Record<string, Move> = {
  backspace: back,
  'shift-backspace': back,
  'ctrl-h': back,
  delete: on,
  'ctrl-w': wordBack,
  'alt-backspace': wordBack,
  'alt-d': wordOn,
  'ctrl-u': lineStart,
  'ctrl-k': lineEnd,
}

function remove(field: Field, to: number, keep: boolean): void {
  const [from, end] = [Math.min(field.at, to), Math.max(field.at, to)]
  const gone = field.parts.splice(from, end - from).join('')
  if (keep && gone !== '') field.cut = gone
  field.at = from
}

interface Position {
  row: number
  column: number
}

/** Where each grapheme stands in lines of the field's width, and where the end is. Lines are broken between words. */
function positionsOf({ parts, width }: Field): Position[] {
  const found: Position[] = []
  let row = 0
  let column = 0
  /** Where the word begins that would go on to the next line. */
  let word = 0
  const breakLine = (): void => {
    row++
    column = 0
  }
  for (const [index, part] of parts.entries()) {
    const wide = part === '\n' ? 0 : widthOf(part)
    if (column + wide > width) {
      breakLine()
      const isWhole = word < index && found[word]!.column > 0
      // The word that does not fit goes along, unless it is longer than a line.
      for (let at = word; isWhole && at < index; at++) {
        found[at] = { row, column }
        column += widthOf(parts[at]!)
      }
    }
    found.push({ row, column })
    column += wide
    if (part === '\n') breakLine()
    if (part === ' ' || part === '\n') word = index + 1
  }
  if (column >= width) breakLine()
  return [...found, { row, column }]
}

/** Goes a line up or down; false where there is none. */
function vertical(field: Field, by: number): boolean {
  const all = positionsOf(field)
  const { row, column } = all[field.at]!
  const there = all.flatMap((place, index) => (place.row === row + by ? [{ ...place, index }] : []))
  if (there.length === 0) return false
  field.at = (there.findLast((place) => place.column <= column) ?? there[0]!).index
  return true
}
