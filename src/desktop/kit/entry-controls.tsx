import { ArrowLeft, type IconNode, Trash2 } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { TableName } from '../../contract/tables.ts'
import { Banner } from './banner.tsx'
import { problemOf } from './autosave.ts'
import { Button, IconButton } from './button.tsx'
import { confirm, Dialog } from './dialog.tsx'
import type { Entries, Entry } from './entries.ts'
import { entryWords as words } from './entry-words.ts'
import { Toolbar } from './split-view.tsx'
import { EmptyState, Loading } from './empty-state.tsx'
import { toast, toastError } from './toast.tsx'
import { describeError } from './api-error.ts'
import { common } from './words.ts'

export interface EntryProps<N extends TableName> {
  of: Entries<N>
  entry: Entry<N>
}

/** Asks for confirmation and deletes an entry; a toast offers to undo it. */
export async function confirmAndRemove<N extends TableName>({ of, entry }: EntryProps<N>, name: string): Promise<void> {
  if (of.isNew(entry)) {
    of.close()
    return
  }
  const question = { title: words('delete_title'), text: words('delete_text', name), action: common('delete') }
  if (!(await confirm({ ...question, danger: true }))) return
  try {
    const undo = await of.remove(entry)
    toast(words('deleted'), { action: { label: words('undo'), run: () => void undo().catch(toastError) } })
  } catch (error) {
    toastError(error)
  }
}

const formatValue = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return words('empty_value')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Columns that are of use to programs only. */
const internal = new Set(['uid', 'parent_uid', 'ical', 'vcard', 'reminded_at', 'snoozed_until'])

/** Shows a conflict with its resolutions, or the error of a failed save. */
export function EntryAlert<N extends TableName>({
  of,
  entry,
  label,
}: EntryProps<N> & { label: (column: string) => string }) {
  const [isShown, setShown] = useState(false)
  const draft = of.draftOf(entry)
  if (draft?.state !== 'conflict') {
    const problem = draft && problemOf(of.table, draft)
    return problem === undefined ? null : <Banner tone="bad">{problem}</Banner>
  }
  const { key, theirs } = draft
  const keepMine = (): void => {
    const kept = of.drafts.resolve(key, 'mine', of.fieldsOf(entry))
    if (of.open.value !== undefined) of.open.value = kept
  }
  const other = theirs as Record<string, unknown> | undefined
  const mine = entry as Record<string, unknown>
  const differing = Object.keys(of.columns).filter(
    (name) => !internal.has(name) && formatValue(other?.[name]) !== formatValue(mine[name]),
  )
  return (
    <div class="conflict" role="alert">
      <p>{words(theirs ? 'conflict' : 'gone')}</p>
      <Button onClick={keepMine}>{words(theirs ? 'keep_mine' : 'as_new')}</Button>
      <Button onClick={() => void of.drafts.resolve(key, 'theirs')}>
        {theirs ? words('take_theirs') : common('discard')}
      </Button>
      {other && (
        <Button kind="quiet" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {words('their_version')}
        </Button>
      )}
      {other && isShown && (
        <dl tabIndex={0}>
          {differing.map((name) => (
            <div key={name}>
              <dt>{label(name)}</dt>
              <dd>{formatValue(other[name])}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  )
}

export function EntryStatus<N extends TableName>({ of, entry }: EntryProps<N>) {
  const draft = of.draftOf(entry)
  const state = draft?.state
  if (of.isUntouched(entry)) return <span class="state" role="status" />
  const isGone = state === 'conflict' && draft?.theirs === undefined
  const isSaved = state === undefined && entry.row !== undefined
  return (
    <span class="state" role="status">
      {isSaved ? words('saved') : words(isGone ? 'deleted_elsewhere' : state === 'saving' ? 'saving' : 'waiting')}
    </span>
  )
}

/** The toolbar of an open entry. */
export function EntryBar<N extends TableName>({
  of,
  entry,
  name,
  children,
}: EntryProps<N> & { name: string; children?: ComponentChildren }) {
  return (
    <Toolbar label={name}>
      <IconButton icon={ArrowLeft} class="only-narrow" label={common('back')} onClick={of.close} />
      <span class="space" />
      <EntryStatus of={of} entry={entry} />
      {children}
      <IconButton icon={Trash2} label={common('delete')} onClick={() => void confirmAndRemove({ of, entry }, name)} />
    </Toolbar>
  )
}

/** An entry in a modal dialog; input is saved automatically. */
export function EntryDialog<N extends TableName>({
  of,
  entry,
  name,
  title,
  onRemove = () => void confirmAndRemove({ of, entry }, name),
  children,
}: EntryProps<N> & { name: string; title: string; onRemove?: () => void; children: ComponentChildren }) {
  return (
    <Dialog title={title} onClose={of.close}>
      {children}
      <footer class="entry-end">
        <EntryStatus of={of} entry={entry} />
        <Button kind="danger" icon={Trash2} onClick={onRemove}>
          {common('delete')}
        </Button>
        <Button kind="main" onClick={of.close}>
          {words('save_and_close')}
        </Button>
      </footer>
    </Dialog>
  )
}

/** The list of entries, or a placeholder while it loads, fails or is empty. */
export function EntriesView<N extends TableName>({
  of,
  icon,
  count,
  isFiltered,
  empty,
  children,
}: {
  of: Entries<N>
  icon: IconNode
  count: number
  /** Whether a filter hides entries. */
  isFiltered: boolean
  /** Placeholder of an empty table. */
  empty: ComponentChildren
  children: ComponentChildren
}) {
  const { table } = of
  if (table.loadError.value !== undefined && !table.isLoaded.value) {
    return (
      <EmptyState icon={icon} title={describeError(table.loadError.value)}>
        <Button onClick={() => void table.load()}>{common('retry')}</Button>
      </EmptyState>
    )
  }
  if (!table.isLoaded.value && count === 0) return <Loading />
  if (count > 0) return <>{children}</>
  return isFiltered ? <EmptyState icon={icon} title={words('none_found')} /> : <>{empty}</>
}
