import { Archive, FileText, Plus } from 'lucide'
import { IconButton } from '../../kit/button.tsx'
import { EntryList } from '../../kit/entry-list.tsx'
import { EntriesView } from '../../kit/entry-controls.tsx'
import { FilterSelect, SearchField } from '../../kit/field.tsx'
import { formatWhen } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { FileMenu } from '../../kit/row-files/file-menu.tsx'
import { SplitView, Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, FirstUse, OfflineBanner } from '../../kit/empty-state.tsx'
import { DocEditor } from './doc-editor.tsx'
import { filter, create, docs, entries, folders, searchText, tags, tagsOf, type Doc } from './store.ts'
import { words } from './words.ts'

const Line = ({ doc }: { doc: Doc }) => (
  <div class="doc-line">
    <strong>{doc.title || words('untitled')}</strong>
    {doc.archived && <Icon of={Archive} size={14} />}
    <p>
      {[formatWhen(doc.updated_at), doc.folder, ...tagsOf(doc).map((tag) => `#${tag}`)].filter(Boolean).join(' · ')}
    </p>
  </div>
)

const Filter = () => (
  <FilterSelect
    class="doc-filter"
    aria-label={words('shown')}
    value={filter.value}
    options={[
      ['all', words('all')],
      ...folders.value.map((name) => [`folder:${name}`, words('in_folder', name)] as const),
      ...tags.value.map((name) => [`tag:${name}`, words('with_tag', name)] as const),
      ['archive', words('in_archive')],
    ]}
    onPick={(value) => void (filter.value = value)}
  />
)

function List() {
  const none = <FirstUse icon={FileText} words={words} onAdd={() => create()} />
  const isFiltered = searchText.value !== '' || filter.value !== 'all'
  return (
    <EntriesView of={entries} icon={FileText} count={docs.value.length} isFiltered={isFiltered} empty={none}>
      <EntryList of={entries} items={docs.value} rowHeight={60} label={words('docs')}>
        {(doc) => <Line doc={doc} />}
      </EntryList>
    </EntriesView>
  )
}

export function Docs() {
  const doc = entries.current.value
  return (
    <>
      <h1 class="unseen">{words('docs')}</h1>
      <OfflineBanner />
      <SplitView
        label={words('docs')}
        shows={doc ? 'main' : 'side'}
        back={doc && entries.close}
        side={
          <>
            <Toolbar label={words('docs')}>
              <SearchField label={words('search')} of={searchText} />
              <IconButton icon={Plus} label={words('new')} onClick={() => create()} />
              <FileMenu of={entries} name={words('docs')} />
            </Toolbar>
            <Filter />
            <List />
          </>
        }
        main={
          doc ? (
            <DocEditor key={entries.open.value} doc={doc} />
          ) : (
            <EmptyState icon={FileText} title={words('none_open')}>
              <p>{words('none_open_text')}</p>
            </EmptyState>
          )
        }
      />
    </>
  )
}
