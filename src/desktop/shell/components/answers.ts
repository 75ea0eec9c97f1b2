import type { Box } from '../box.ts'

/** How hooks would like the dock: slugs first in this order, left out, and called otherwise. */
export interface DockWish {
  order: readonly string[]
  hidden: readonly string[]
  labels: ReadonlyMap<string, string>
}

/** Where hooks would like windows of apps, by slug, and widgets, by name, to be at first. */
export interface PanelWish {
  windows: ReadonlyMap<string, Box>
  widgets: ReadonlyMap<string, Box>
}

const MOST = 200
const LONGEST_LABEL = 60

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

class WrongAnswer extends Error {
  override name = 'WrongAnswer'
}

function names(value: unknown): string[] {
  if (value === undefined) return []
  const isList = Array.isArray(value) && value.length <= MOST
  if (!isList || !value.every((name) => typeof name === 'string' && name.length <= 100)) throw new WrongAnswer()
  return value as string[]
}

function byName<T>(value: unknown, read: (one: unknown) => T): Map<string, T> {
  if (value === undefined) return new Map()
  if (!isRecord(value) || Object.keys(value).length > MOST) throw new WrongAnswer()
  return new Map(Object.entries(value).map(([name, one]) => [name, read(one)]))
}

function label(value: unknown): string {
  if (typeof value !== 'string') throw new WrongAnswer()
  // Nothing that turns the direction of writing or breaks the line.
  return value
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .slice(0, LONGEST_LABEL)
}

function box(value: unknown): Box {
  const { x, y, width, height } = isRecord(value) ? value : {}
  const numbers = [x, y, width, height]
  const isSound = (one: unknown) => typeof one === 'number' && Number.isFinite(one) && Math.abs(one) < 100_000
  if (!numbers.every(isSound)) throw new WrongAnswer()
  return { x, y, width, height } as Box
}

/** An answer of the hook `dock`. Throws for anything but what was agreed; null means nothing is wished. */
export function readDock(value: unknown): DockWish {
  const { order, hidden, labels } = wishes(value)
  return { order: names(order), hidden: names(hidden), labels: byName(labels, label) }
}

/** The same for the hook `panel`. */
export function readPanel(value: unknown): PanelWish {
  const { windows, widgets } = wishes(value)
  return { windows: byName(windows, box), widgets: byName(widgets, box) }
}

function wishes(value: unknown): Record<string, unknown> {
  if (value === null) return {}
  if (!isRecord(value)) throw new WrongAnswer()
  return value
}
