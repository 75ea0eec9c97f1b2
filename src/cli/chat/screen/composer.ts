import { graphemesOf, widthOf } from './spans.ts'

export interface Composer {
  text: () => string
  /** The text before the cursor. */
  before: () => string
  set: (text: string) => void
  insert: (text: string) => void
  /** Replaces the last `length` UTF-16 code units before the cursor. */
  replaceBefore: (length: number, text: string) => void
  /** Handles a key; false if it has no meaning in the field. */
  key: (key: string) => boolean
  /** The text wrapped to a width, and the position of the cursor. */
  layout: (width: number) => { lines: string[]; row: number; column: number }
}

interface Field {
  /** The text as graphemes; the cursor is before the one at `at`. */
  parts: string[]
  at: number
  /** The text cut last. */
  cut: string
  /** Columns at the last layout: up and down move by displayed lines. */
  width: number
}

/** A multi-line text field with the key bindings of readline. */
export function makeComposer(): Composer {
  const field: Field = { parts: [], at: 0, cut: '', width: 80 }
  const before = (): string => field.parts.slice(0, field.at).join('')
  function put(head: string): void {
    // A combining mark joins the character before it.
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

// `lastIndexOf` counts a negative position from the end.
const lineStart: Move = ({ parts, at }) => (at === 0 ? 0 : parts.lastIndexOf('\n', at - 1) + 1)

const lineEnd: Move = ({ parts, at }) => {
  const end = parts.indexOf('\n', at)
  return end < 0 ? parts.length : end
}

const back: Move = ({ at }) => Math.max(0, at - 1)
const on: Move = ({ parts, at }) => Math.min(parts.length, at + 1)

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

/** Keys that delete the text between the cursor and a position. */
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

/** Position of each grapheme, and of the end, in lines of the field's width. Lines break between words. */
function positionsOf({ parts, width }: Field): Position[] {
  const found: Position[] = []
  let row = 0
  let column = 0
  /** Start of the current word, which may move to the next line. */
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
      // Move the word to the next line unless it is longer than a line.
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

/** Moves the cursor a line up or down; false if there is none. */
function vertical(field: Field, by: number): boolean {
  const all = positionsOf(field)
  const { row, column } = all[field.at]!
  const there = all.flatMap((place, index) => (place.row === row + by ? [{ ...place, index }] : []))
  if (there.length === 0) return false
  field.at = (there.findLast((place) => place.column <= column) ?? there[0]!).index
  return true
}
