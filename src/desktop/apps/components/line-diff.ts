import { diffLines } from 'diff'

/** A line of a diff; `skipped` stands for omitted lines. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'skipped'
  text: string
  count?: number
}

/** Unchanged lines shown around a change. */
const CONTEXT = 3

/** Time after which two texts count as completely different, ms. */
const TIMEOUT = 1_000

/** Longest diff, lines. */
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

/** A line diff; empty if the texts are equal. */
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
