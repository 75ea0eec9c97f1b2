import { useSignalEffect } from '@preact/signals'
import { Pin, Plus, StickyNote } from 'lucide'
import { IconButton, Button } from '../../kit/button.tsx'
import { FilterSelect, SearchField } from '../../kit/field.tsx'
import { formatWhen } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { plainText } from '../../kit/plain-text.ts'
import { FileMenu } from '../../kit/row-files/file-menu.tsx'
import { SplitView, Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, Loading, FirstUse, OfflineBanner } from '../../kit/empty-state.tsx'
import { describeError } from '../../kit/api-error.ts'
import { VirtualList } from '../../kit/virtual-list.tsx'
import { common } from '../../kit/words.ts'
import { NoteEditor } from './note-editor.tsx'
import { categories, category, create, current, findNote, followPath, keys, open, searchText, table } from './store.ts'
import { words } from './words.ts'

function Line({ noteKey }: { noteKey: string }) {
  const note = findNote(noteKey)
  if (!note) return null
  return (
    <div class={`note-line ${note.color ? `color-${note.color}` : ''}`}>
      <strong>{note.title || words('untitled')}</strong>
      {note.pinned && <Icon of={Pin} size={14} />}
      <p>
        <time>{formatWhen(note.updated_at)}</time>{' '}
        {plainText((note.content ?? '').slice(0, 800).replace(`# ${note.title}\n`, ''))}
      </p>
    </div>
  )
}

function List() {
  if (table.loadError.value !== undefined && !table.isLoaded.value) {
    return (
      <EmptyState icon={StickyNote} title={describeError(table.loadError.value)}>
        <Button onClick={() => void table.load()}>{common('retry')}</Button>
      </EmptyState>
    )
  }
  if (!table.isLoaded.value) return <Loading />
  if (keys.value.length === 0) {
    if (searchText.value !== '' || category.value !== '')
      return <EmptyState icon={StickyNote} title={words('none_found')} />
    return <FirstUse icon={StickyNote} words={words} onAdd={() => create()} />
  }
  return (
    <VirtualList
      items={keys.value}
      rowHeight={64}
      keyOf={(key) => key}
      label={words('notes')}
      selected={current.value?.key}
      onSelect={(key) => void (open.value = key)}
    >
      {(key) => <Line noteKey={key} />}
    </VirtualList>
  )
}

export function Notes() {
  useSignalEffect(followPath)
  const note = current.value
  return (
    <>
      <h1 class="unseen">{words('notes')}</h1>
      <OfflineBanner />
      <SplitView
        label={words('notes')}
        shows={note ? 'main' : 'side'}
        back={note && (() => void (open.value = undefined))}
        side={
          <>
            <Toolbar label={words('notes')}>
              <SearchField label={words('search')} of={searchText} />
              <IconButton icon={Plus} label={words('new')} onClick={() => create()} />
              <FileMenu of={{ name: 'svc_notes', table }} name={words('notes')} />
            </Toolbar>
            {categories.value.length > 0 && (
              <FilterSelect
                class="category-filter"
                aria-label={words('category')}
                value={category.value}
                options={[['', words('all')], ...categories.value.map((name) => [name, name] as const)]}
                onPick={(name) => void (category.value = name)}
              />
            )}
            <List />
          </>
        }
        main={
          note ? (
            <NoteEditor key={open.value} note={note} />
          ) : (
            <EmptyState icon={StickyNote} title={words('none_open')}>
              <p>{words('none_open_text')}</p>
            </EmptyState>
          )
        }
      />
    </>
  )
}
