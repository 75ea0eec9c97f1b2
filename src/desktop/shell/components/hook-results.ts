import type { Rect } from '../rect.ts'

/** Changes to the dock: slugs to put first, slugs to hide, and other labels. */
export interface DockLayout {
  order: readonly string[]
  hidden: readonly string[]
  labels: ReadonlyMap<string, string>
}

/** Initial positions of windows by slug, and of widgets by name. */
export interface PanelLayout {
  windows: ReadonlyMap<string, Rect>
  widgets: ReadonlyMap<string, Rect>
}

const MAX_ENTRIES = 200
const MAX_LABEL_LENGTH = 60

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

class InvalidResult extends Error {
  override name = 'WrongAnswer'
}

function readNames(value: unknown): string[] {
  if (value === undefined) return []
  const isList = Array.isArray(value) && value.length <= MAX_ENTRIES
  if (!isList || !value.every((name) => typeof name === 'string' && name.length <= 100)) throw new InvalidResult()
  return value as string[]
}

function readMap<T>(value: unknown, read: (one: unknown) => T): Map<string, T> {
  if (value === undefined) return new Map()
  if (!isRecord(value) || Object.keys(value).length > MAX_ENTRIES) throw new InvalidResult()
  return new Map(Object.entries(value).map(([name, one]) => [name, read(one)]))
}

function readLabel(value: unknown): string {
  if (typeof value !== 'string') throw new InvalidResult()
  // No line breaks, no characters that change the text direction.
  return value
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .slice(0, MAX_LABEL_LENGTH)
}

function readRect(value: unknown): Rect {
  const { x, y, width, height } = isRecord(value) ? value : {}
  const numbers = [x, y, width, height]
  const isValid = (one: unknown) => typeof one === 'number' && Number.isFinite(one) && Math.abs(one) < 100_000
  if (!numbers.every(isValid)) throw new InvalidResult()
  return { x, y, width, height } as Rect
}

/** Validates a result of the hook `dock`; null means no change. Throws if it is invalid. */
export function parseDockLayout(value: unknown): DockLayout {
  const { order, hidden, labels } = readObject(value)
  return { order: readNames(order), hidden: readNames(hidden), labels: readMap(labels, readLabel) }
}

export function parsePanelLayout(value: unknown): PanelLayout {
  const { windows, widgets } = readObject(value)
  return { windows: readMap(windows, readRect), widgets: readMap(widgets, readRect) }
}

function readObject(value: unknown): Record<string, unknown> {
  if (value === null) return {}
  if (!isRecord(value)) throw new InvalidResult()
  return value
}
