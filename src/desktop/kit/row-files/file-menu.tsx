import { Download, EllipsisVertical, Upload } from 'lucide'
import { useRef } from 'preact/hooks'
import type { ExchangeName } from '../../../client/rows/file-formats.ts'
import type { TableName } from '../../../contract/tables.ts'
import type { Entries } from '../entries.ts'
import { formatSize } from '../formats.ts'
import { Icon } from '../icon.tsx'
import { Menu } from '../menu.tsx'
import { offerUndo } from '../offer-undo.ts'
import { toast, toastError } from '../toast.tsx'
import { common } from '../words.ts'
import {
  emptyResult,
  formatOfFile,
  MAX_FILE,
  readFileRows,
  removeImported,
  sendRows,
  type ImportResult,
} from './import-rows.ts'
import type { AskTarget, ImportTarget } from './import-target.ts'
import { MIME, saveRows } from './save-rows.ts'
import { fileWords as words } from './words.ts'

/** Most problems of a file that are listed. */
const MAX_LISTED = 5

/** Rows whose import takes seconds. */
const MANY = 500

function report(table: TableName, result: ImportResult, undoTarget: () => Promise<void>): void {
  const { added, updated, problems, notes, left } = result
  const lines = [...problems, ...notes]
  const more = lines.length > MAX_LISTED ? [words('more_problems', lines.length - MAX_LISTED)] : []
  const out = (['cancelled', 'groups', 'pictures', 'addresses'] as const).flatMap((kind) =>
    left[kind] ? [words(kind, left[kind])] : [],
  )
  const text = [words('imported', added.length, updated), ...out, ...lines.slice(0, MAX_LISTED), ...more].join('\n')
  const tone = problems.length > 0 ? 'bad' : 'good'
  if (added.length === 0) toast(text, { tone })
  else offerUndo(text, () => removeImported(table, added).then(undoTarget), { tone })
}

interface Props<N extends TableName> {
  of: Pick<Entries<N>, 'name' | 'table'>
  /** Formats of other programs beside CSV. */
  formats?: readonly ExchangeName[]
  /** Name of exported files, without their ending. */
  name: string
  /** Asks where the new rows of a file of another program go. */
  askTarget?: AskTarget
}

/** Without a choice, rows go into their table as they are. */
const intoTable: ImportTarget = { fieldsOf: () => ({}), undo: () => Promise.resolve() }

async function importFile<N extends TableName>(file: File, { of, formats = [], askTarget }: Props<N>): Promise<void> {
  const bad = (text: string): void => toast(text, { tone: 'bad' })
  if (file.size > MAX_FILE) return bad(words('too_large', formatSize(MAX_FILE)))
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
  } catch {
    return bad(words('not_text', file.name))
  }
  const format = formatOfFile(text, formats)
  if (format === undefined || (format === 'rows' && !/\.(?:csv|tsv|txt|json|jsonl)$/i.test(file.name)))
    return bad(words('wrong_kind', file.name, [...formats, 'csv', 'json'].map((one) => `.${one}`).join(', ')))
  const result = emptyResult()
  let target = intoTable
  try {
    const read = await readFileRows({ table: of.name, text, format, rows: of.table.rows.value })
    const isAdding = read.fresh.some(({ id }) => id === undefined)
    if (isAdding && askTarget && format !== 'rows') {
      const chosen = await askTarget(text, read.candidates)
      if (!chosen) return
      target = chosen
    }
    if (read.fresh.length > MANY) toast(words('importing', read.fresh.length))
    await sendRows(of.name, read, target, result)
  } catch (error) {
    if (error instanceof Error && error.name === 'BadRow') bad(words('unreadable', file.name, error.message))
    else toastError(error)
    // What was sent before stays; the rest can be imported again.
    if (result.added.length + result.updated === 0) return target.undo()
  }
  if (result.added.length === 0) await target.undo()
  report(of.name, result, target.undo)
}

/** A menu to import and export the rows of a table. */
export function FileMenu<N extends TableName>(props: Props<N>) {
  const input = useRef<HTMLInputElement>(null)
  const { of, name, formats = [] } = props
  return (
    <>
      <Menu
        label={common('more')}
        items={[
          { label: words('import'), icon: Upload, onSelect: () => input.current?.click() },
          ...[...formats, 'csv' as const].map((format) => ({
            label: words('export', format),
            icon: Download,
            onSelect: () =>
              void saveRows(of.name, of.table.rows.value, { format, name: name.toLowerCase() }).catch(toastError),
          })),
        ]}
      >
        <Icon of={EllipsisVertical} />
      </Menu>
      <input
        ref={input}
        type="file"
        accept={[...formats.map((one) => `.${one},${MIME[one]}`), '.csv,.json,.jsonl'].join(',')}
        hidden
        aria-label={words('import')}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? []
          // The same file can be chosen again.
          currentTarget.value = ''
          if (file) void importFile(file, props).catch(toastError)
        }}
      />
    </>
  )
}
