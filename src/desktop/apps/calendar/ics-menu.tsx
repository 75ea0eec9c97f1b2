import { Download, EllipsisVertical, Upload } from 'lucide'
import { useRef } from 'preact/hooks'
import { isIcs } from '../../../client/rows/row-files.ts'
import { entryWords } from '../../kit/entry-words.ts'
import { formatSize } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { Menu } from '../../kit/menu.tsx'
import { saveFile } from '../../kit/save-file.ts'
import { toast, toastError } from '../../kit/toast.tsx'
import { common } from '../../kit/words.ts'
import { exportIcs, importIcs, MAX_ICS, removeImported, type ImportResult } from './ics-files.ts'
import { words } from './words.ts'

/** Most problems of a file that are listed. */
const MAX_LISTED = 5

function report({ added, updated, problems, notes, cancelled }: ImportResult): void {
  const lines = [...problems, ...notes]
  const more = lines.length > MAX_LISTED ? [words('more_problems', lines.length - MAX_LISTED)] : []
  const left = cancelled > 0 ? [words('cancelled', cancelled)] : []
  const text = [words('imported', added.length, updated), ...left, ...lines.slice(0, MAX_LISTED), ...more].join('\n')
  toast(text, {
    tone: problems.length > 0 ? 'bad' : 'good',
    ...(added.length > 0
      ? { action: { label: entryWords('undo'), run: () => void removeImported(added).catch(toastError) } }
      : {}),
  })
}

async function importFile(file: File): Promise<void> {
  if (file.size > MAX_ICS) return toast(words('too_large', formatSize(MAX_ICS)), { tone: 'bad' })
  const text = await file.text()
  if (!isIcs(text)) return toast(words('no_calendar', file.name), { tone: 'bad' })
  const result: ImportResult = { added: [], updated: 0, problems: [], notes: [], cancelled: 0 }
  try {
    await importIcs(text, result)
  } catch (error) {
    toastError(error)
    // What was sent before stays; the rest can be imported again.
    if (result.added.length + result.updated === 0) return
  }
  report(result)
}

const save = async (): Promise<void> => saveFile(await exportIcs(), `${words('calendar').toLowerCase()}.ics`)

/** Import and export of iCalendar files. */
export function IcsMenu() {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Menu
        label={common('more')}
        items={[
          { label: words('import'), icon: Upload, onSelect: () => input.current?.click() },
          { label: words('export'), icon: Download, onSelect: () => void save().catch(toastError) },
        ]}
      >
        <Icon of={EllipsisVertical} />
      </Menu>
      <input
        ref={input}
        type="file"
        accept=".ics,text/calendar"
        hidden
        aria-label={words('import')}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? []
          // The same file can be chosen again.
          currentTarget.value = ''
          if (file) void importFile(file).catch(toastError)
        }}
      />
    </>
  )
}
