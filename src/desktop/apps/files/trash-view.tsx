import { printable } from '../../../base/text.ts'
import { RotateCcw, Trash2, X } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { formatDate, formatSize, formatWhen } from '../../kit/formats.ts'
import { Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { toast } from '../../kit/toast.tsx'
import { describeError, ApiError } from '../../kit/api-error.ts'
import { VirtualList } from '../../kit/virtual-list.tsx'
import { common } from '../../kit/words.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { openFolder, onChange } from './folder.ts'
import { FileIcon } from './file-icon.tsx'
import { attempt } from './operations.ts'
import { freeName, join, nameOf, parentOf } from './paths.ts'
import { selectNames } from './selection.ts'
import { SidebarButton } from './sidebar.tsx'
import { words } from './words.ts'

type Entry = AnswerOf<'trash.list'>['items'][number]

async function restore({ id, path }: Entry): Promise<void> {
  const to = await bridge.call('trash.restore', { id }).then(
    (answer) => answer.path,
    async (error: unknown) => {
      if (!(error instanceof ApiError && error.code === 'exists')) throw error
      const { items } = await bridge.call('filesystem.list', { path: parentOf(path) })
      const names = items.map(({ name }) => name)
      return (await bridge.call('trash.restore', { id, to: join(parentOf(path), freeName(nameOf(path), names)) })).path
    },
  )
  const show = () => {
    openFolder(parentOf(to))
    selectNames([nameOf(to)])
  }
  toast(words('restored', to), { action: { label: words('show'), run: show } })
}

async function confirmAndErase(work: () => Promise<unknown>, text: string): Promise<void> {
  const isConfirmed = await confirm({ title: words('erase_title'), text, action: words('erase'), danger: true })
  if (isConfirmed) await attempt(work)
}

/** Deleted items that can be restored. */
export function TrashView() {
  const [entries, setEntries] = useState<readonly Entry[] | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const [selectedId, setSelectedId] = useState<number | undefined>(undefined)

  function load(): void {
    bridge.call('trash.list', {}).then(({ items }) => {
      setEntries(items)
      setError(undefined)
    }, setError)
  }
  useEffect(() => {
    bridge.setTitle(`${words('trash')} – ${words('files')}`)
    load()
    return onChange(load)
  }, [])

  return (
    <>
      <Toolbar label={words('trash')}>
        <SidebarButton />
        <h2>{words('trash')}</h2>
        <span class="space" />
        <Button
          kind="danger"
          icon={Trash2}
          disabled={!entries || entries.length === 0}
          onClick={() =>
            void confirmAndErase(() => bridge.call('trash.empty', {}), words('empty_text', entries!.length))
          }
        >
          {words('empty_trash')}
        </Button>
      </Toolbar>
      {error !== undefined && !entries ? (
        <EmptyState icon={Trash2} title={describeError(error)}>
          <Button onClick={load}>{common('retry')}</Button>
        </EmptyState>
      ) : !entries ? (
        <Loading />
      ) : entries.length === 0 ? (
        <EmptyState icon={Trash2} title={words('trash_empty')}>
          <p>{words('trash_empty_text')}</p>
        </EmptyState>
      ) : (
        <div class="trash-list">
          <VirtualList
            items={entries}
            rowHeight={56}
            keyOf={({ id }) => id}
            label={words('trash')}
            selected={selectedId}
            onSelect={({ id }) => setSelectedId(id)}
            onOpen={(entry) => void attempt(() => restore(entry))}
          >
            {(entry) => (
              <span class="trash-line">
                <FileIcon of={entry} size={22} />
                <span class="name">
                  <strong>{printable(entry.name)}</strong>
                  <small>
                    {words('was_in', parentOf(entry.path))} · {words('deleted_when', formatWhen(entry.deleted_at))} ·{' '}
                    {words('kept_until', formatDate(entry.expires_at))}
                  </small>
                </span>
                <span class="size">{entry.type === 'file' ? formatSize(entry.size) : ''}</span>
              </span>
            )}
          </VirtualList>
        </div>
      )}
      <SelectedEntry entry={entries?.find(({ id }) => id === selectedId)} onClear={() => setSelectedId(undefined)} />
    </>
  )
}

function SelectedEntry({ entry, onClear }: { entry: Entry | undefined; onClear: () => void }) {
  if (!entry) return null
  const erase = () =>
    confirmAndErase(
      () => bridge.call('trash.delete', { id: entry.id }),
      words('erase_text', printable(entry.name)),
    ).then(onClear)
  return (
    <div class="chosen" role="toolbar" aria-label={printable(entry.name)}>
      <strong class="name">{printable(entry.name)}</strong>
      <Button kind="main" icon={RotateCcw} onClick={() => void attempt(() => restore(entry)).then(onClear)}>
        {words('restore')}
      </Button>
      <Button kind="danger" onClick={() => void erase()}>
        {words('erase')}
      </Button>
      <IconButton icon={X} label={common('close')} onClick={onClear} />
    </div>
  )
}
