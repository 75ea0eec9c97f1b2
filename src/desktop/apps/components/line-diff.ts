import { diffLines } from 'diff'

/** A line of a comparison; `skipped` stands for lines that are the same in both. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'skipped'
  text: string
  /** Lines that are left out. */
  count?: number
}

/** Equal lines that are shown before and after what differs. */
const CONTEXT = 3

/** Milliseconds until two texts count as different throughout. */
const TIMEOUT = 1_000

/** Lines that are shown. */
const MAX_LINES = 2_000

const split = (text: string): string[] => (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')

function shorten(texts: string[], isFirst: boolean, isLast: boolean): DiffLine[] {
  const head = isFirst ? 0 : CONTEXT
  const tail = isLast ? 0 : CONTEXT
  const same = (text: string): DiffLine => ({ kind: 'same', text })
  const count = texts.length - head - tail
  if (count <= 1) return texts.map(same)
  const after = tail === 0 ? [] : texts.slice(-tail)
  return [...texts.slice(0, head).map(same), { kind: 'skipped', text: '', count }, ...after.map(same)]
}

/** What became of the lines of a text, with what is the same left out; nothing where it is the same throughout. */
export function lineDiff(before: string, after: string): DiffLine[] {
  if (before === after) return []
  const parts = diffLines(before, after, { timeout: TIMEOUT }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ]
  const lines = parts
    .filter(({ value }) => value !== '')
    .flatMap(({ value, added, removed }, at, all): DiffLine[] => {
      const texts = split(value)
      if (!added && !removed) return shorten(texts, at === 0, at === all.length - 1)
      return texts.map((text) => ({ kind: added ? 'added' : 'removed', text }))
    })
  if (lines.length <= MAX_LINES) return lines
  return [...lines.slice(0, MAX_LINES), { kind: 'skipped', text: '', count: lines.length - MAX_LINES }]
}
