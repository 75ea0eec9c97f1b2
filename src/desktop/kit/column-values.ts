import type { Column } from '../../contract/tables.ts'
import { formatNumber } from './formats.ts'
import { catalogue } from './language.ts'

const words = catalogue(
  {
    required: 'This field is required.',
    too_long: (most: number) => `Enter at most ${formatNumber(most)} characters.`,
    number: 'Enter a number.',
    whole: 'Enter a whole number.',
    range: (least: number, most: number) => `Enter a number from ${formatNumber(least)} to ${formatNumber(most)}.`,
    date: 'Enter a valid date.',
    form: 'The format is not valid.',
    not_storable: (most: number) =>
      `This text is too long to be saved. Shorten it to at most ${formatNumber(most)} characters.`,
  },
  {
    required: 'Dieses Feld ist erforderlich.',
    too_long: (most) => `Geben Sie höchstens ${formatNumber(most)} Zeichen ein.`,
    number: 'Geben Sie eine Zahl ein.',
    whole: 'Geben Sie eine ganze Zahl ein.',
    range: (least, most) => `Geben Sie eine Zahl von ${formatNumber(least)} bis ${formatNumber(most)} ein.`,
    date: 'Geben Sie ein gültiges Datum ein.',
    form: 'Das Format ist ungültig.',
    not_storable: (most) =>
      `Dieser Text ist zu lang und kann nicht gespeichert werden. Kürzen Sie ihn auf höchstens ${formatNumber(most)} Zeichen.`,
  },
)

/** Input parsed as a value of a column, or an error message. */
export type ParseResult = { value: string | number | string[] | null; problem?: undefined } | { problem: string }

/** Most characters of one of several texts. */
const MAX_LINE = 500

/** The limit that a value exceeds, characters; undefined if it exceeds none. */
function exceededLimit({ type, max = Infinity }: Column, value: unknown): number | undefined {
  if (type === 'texts' && Array.isArray(value)) {
    if (value.some((line: string) => line.length > MAX_LINE)) return MAX_LINE
    return JSON.stringify(value).length > max ? max : undefined
  }
  // Only texts of more UTF-16 code units can have more characters.
  return typeof value === 'string' && value.length > max && [...value].length > max ? max : undefined
}

/** Why the server can never accept these values, in the user's language; undefined if it can. */
export function lengthProblem(columns: Record<string, Column>, values: object): string | undefined {
  for (const [name, value] of Object.entries(values)) {
    const limit = columns[name] && exceededLimit(columns[name], value)
    if (limit !== undefined) return words('not_storable', limit)
  }
  return undefined
}

const readEmpty = (column: Column): ParseResult => {
  if (column.required) return { problem: words('required') }
  return { value: column.default === undefined ? null : (column.default as string | number) }
}

function readNumber(column: Column, text: string): ParseResult {
  const value = Number(text.replace(',', '.'))
  if (!Number.isFinite(value)) return { problem: words('number') }
  if (column.type === 'integer' && !Number.isSafeInteger(value)) return { problem: words('whole') }
  const { min = -Number.MAX_VALUE, max = Number.MAX_VALUE } = column
  return value < min || value > max ? { problem: words('range', min, max) } : { value }
}

/** Whether the date exists: browsers parse 31 February as a day of March. */
const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text)

/** Parses input by the declaration of its column, with the same limits as the server. */
export function parseValue(column: Column, text: string): ParseResult {
  if (text.trim() === '') return readEmpty(column)
  switch (column.type) {
    case 'integer':
    case 'real':
      return readNumber(column, text.trim())
    case 'texts': {
      const texts = text.split('\n').map((line) => line.trim())
      const kept = texts.filter((line) => line !== '')
      const limit = exceededLimit(column, kept)
      return limit === undefined ? { value: kept } : { problem: words('too_long', limit) }
    }
    case 'date':
      return isDay(text) ? { value: text } : { problem: words('date') }
    default: {
      const limit = exceededLimit(column, text)
      if (limit !== undefined) return { problem: words('too_long', limit) }
      if (column.pattern !== undefined && !new RegExp(column.pattern, 'u').test(text)) return { problem: words('form') }
      return { value: text }
    }
  }
}
