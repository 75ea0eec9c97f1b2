import { useState } from 'preact/hooks'
import type { Column, TableName } from '../../contract/tables.ts'
import { readValue } from './column-values.ts'
import type { EntryProps } from './entry-controls.tsx'
import { Select, Switch, TextArea, TextField } from './field.tsx'
import type { Fields } from './rows.ts'

/** Texts longer than this get several lines. */
const MAX_SINGLE_LINE = 4_000

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? `${value}` : '')

const inputOf = ({ type, max }: Column) => {
  if (type === 'date') return { type: 'date' }
  if (type === 'integer' || type === 'real') return { inputMode: 'decimal' }
  return { maxLength: max }
}

/**
 * A field of an entry, as the declaration of its column has it. What is entered is written at once where the column takes
 * it; where it does not, what is wrong is said and nothing is written.
 */
export function EntryField<N extends TableName>({
  of,
  entry,
  name,
  label,
  options,
  check,
  ...rest
}: EntryProps<N> & {
  name: keyof Fields<N> & string
  label: string
  hint?: string
  placeholder?: string
  /** Names of the values of a column that has only some. */
  options?: readonly { value: string; label: string }[]
  /** What else is wrong with a value. */
  check?: (value: string) => string | undefined
  /** Id of a list of suggestions. */
  list?: string
  type?: string
  autocomplete?: string
  /** Gets the focus in a dialog. */
  'data-first'?: boolean
}) {
  const column = of.columns[name]!
  const value: unknown = entry[name]
  // What is being entered stays as it was entered, until the field is left.
  const [entered, setEntered] = useState<string | undefined>(undefined)
  const write = (to: unknown) => of.write(entry, { [name]: to } as Partial<Fields<N>>)
  if (column.type === 'boolean') {
    return (
      <Switch
        label={label}
        checked={value === true}
        onChange={({ currentTarget }: { currentTarget: HTMLInputElement }) => write(currentTarget.checked)}
      />
    )
  }
  if (options) {
    return (
      <Select
        label={label}
        options={options}
        value={textOf(value)}
        onChange={({ currentTarget }) => {
          const read = readValue(column, currentTarget.value)
          if (read.problem === undefined) write(read.value)
        }}
      />
    )
  }
  const read = entered === undefined ? undefined : readValue(column, entered)
  // A title that is missing is no reason to shout at who has just begun.
  const problem = entered === undefined ? undefined : (read?.problem ?? (entered === '' ? undefined : check?.(entered)))
  const common = {
    ...rest,
    label,
    problem,
    value: entered ?? textOf(value),
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => {
      const text = currentTarget.value
      setEntered(text)
      const next = readValue(column, text)
      if (next.problem === undefined && (text === '' || check?.(text) === undefined)) write(next.value)
    },
    onBlur: () => problem === undefined && setEntered(undefined),
  }
  if (column.type === 'text' && (column.max ?? 0) > MAX_SINGLE_LINE)
    return <TextArea rows={5} {...(common as object)} label={label} />
  return <TextField {...(inputOf(column) as object)} {...(common as object)} label={label} />
}
