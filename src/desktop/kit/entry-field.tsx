import { useState } from 'preact/hooks'
import type { Column, TableName } from '../../contract/tables.ts'
import { parseValue } from './column-values.ts'
import type { EntryProps } from './entry-controls.tsx'
import { Select, Switch, TextArea, TextField } from './field.tsx'
import { formatNumber } from './formats.ts'
import type { Fields } from './rows.ts'

/** Columns of texts longer than this get a text area, characters. */
const MAX_SINGLE_LINE = 4_000

function textOf(value: unknown): string {
  if (typeof value === 'number') return formatNumber(value, { useGrouping: false, maximumFractionDigits: 15 })
  if (Array.isArray(value)) return value.join('\n')
  return typeof value === 'string' ? value : ''
}

const inputOf = ({ type, max }: Column) => {
  if (type === 'date') return { type: 'date' }
  if (type === 'integer' || type === 'real') return { inputMode: 'decimal' }
  return { maxLength: max }
}

/** A field by the declaration of its column. Valid input is saved at once; invalid input is not saved. */
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
  /** Labels of the values of an enumerated column. */
  options?: readonly { value: string; label: string }[]
  /** An additional check; returns an error message. */
  check?: (value: string) => string | undefined
  /** Id of a `datalist`. */
  list?: string
  type?: string
  autocomplete?: string
  /** Gets the focus when its dialog opens. */
  'data-first'?: boolean
}) {
  const column = of.columns[name]!
  const value: unknown = entry[name]
  // Raw input, shown until the field loses focus.
  const [entered, setEntered] = useState<string | undefined>(undefined)
  const write = (to: unknown) => of.write(entry, { [name]: to } as Partial<Fields<N>>)
  if (column.type === 'boolean') {
    return <Switch label={label} checked={value === true} onSwitch={write} />
  }
  if (options) {
    return (
      <Select
        label={label}
        options={options}
        value={textOf(value)}
        onChange={({ currentTarget }) => {
          const read = parseValue(column, currentTarget.value)
          if (read.problem === undefined) write(read.value)
        }}
      />
    )
  }
  const read = entered === undefined ? undefined : parseValue(column, entered)
  // An empty field shows no error while the user types.
  const problem = entered === undefined ? undefined : (read?.problem ?? (entered === '' ? undefined : check?.(entered)))
  const common = {
    ...rest,
    label,
    problem,
    value: entered ?? textOf(value),
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => {
      const text = currentTarget.value
      setEntered(text)
      const next = parseValue(column, text)
      if (next.problem === undefined && (text === '' || check?.(text) === undefined)) write(next.value)
    },
    onBlur: () => problem === undefined && setEntered(undefined),
  }
  // Texts stand on a line each.
  if (column.type === 'texts') return <TextArea rows={2} {...(common as object)} label={label} />
  if (column.type === 'text' && (column.max ?? 0) > MAX_SINGLE_LINE)
    return <TextArea rows={5} {...(common as object)} label={label} />
  return <TextField {...(inputOf(column) as object)} {...(common as object)} label={label} />
}
