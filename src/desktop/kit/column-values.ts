import type { Column } from '../../contract/tables.ts'
import { formatNumber } from './formats.ts'
import { catalogue } from './language.ts'

const words = catalogue(
  {
    required: 'Please fill this in.',
    too_long: (most: number) => `At most ${formatNumber(most)} characters, please.`,
    number: 'This is not a number.',
    whole: 'A whole number, please.',
    range: (least: number, most: number) => `From ${formatNumber(least)} to ${formatNumber(most)}, please.`,
    date: 'This is not a date.',
    form: 'This has not the right form.',
  },
  {
    required: 'Bitte ausfüllen.',
    too_long: (most) => `Bitte höchstens ${formatNumber(most)} Zeichen.`,
    number: 'Das ist keine Zahl.',
    whole: 'Bitte eine ganze Zahl.',
    range: (least, most) => `Bitte von ${formatNumber(least)} bis ${formatNumber(most)}.`,
    date: 'Das ist kein Datum.',
    form: 'Das hat nicht die richtige Form.',
  },
)

/** What somebody entered, read as a value of a column, or what is wrong with it. */
export type Read = { value: string | number | null; flaw?: undefined } | { flaw: string }

const nothing = (column: Column): Read => {
  if (column.required) return { flaw: words('required') }
  return { value: column.default === undefined ? null : (column.default as string | number) }
}

function readNumber(column: Column, text: string): Read {
  const value = Number(text.replace(',', '.'))
  if (!Number.isFinite(value)) return { flaw: words('number') }
  if (column.type === 'integer' && !Number.isSafeInteger(value)) return { flaw: words('whole') }
  const { min = -Number.MAX_VALUE, max = Number.MAX_VALUE } = column
  return value < min || value > max ? { flaw: words('range', min, max) } : { value }
}

/** Whether there is such a day; browsers take the 31st of February for one in March. */
const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text)

/** Reads what was entered into a field, by the declaration of its column: the server would refuse the rest. */
export function readValue(column: Column, text: string): Read {
  if (text.trim() === '') return nothing(column)
  switch (column.type) {
    case 'integer':
    case 'real':
      return readNumber(column, text.trim())
    case 'date':
      return isDay(text) ? { value: text } : { flaw: words('date') }
    default:
      if (column.max !== undefined && [...text].length > column.max) return { flaw: words('too_long', column.max) }
      if (column.pattern !== undefined && !new RegExp(column.pattern, 'u').test(text)) return { flaw: words('form') }
      return { value: text }
  }
}
