import { useSignal } from '@preact/signals'
import { Bookmark as Mark, Folder, FolderOpen, Inbox, Pencil, Plus } from 'lucide'
import { Button, IconButton } from '../../kit/button.tsx'
import { EntryField } from '../../kit/entry-field.tsx'
import { EntriesView, EntryDialog, EntryAlert } from '../../kit/entry-controls.tsx'
import { SearchField } from '../../kit/field.tsx'
import { formatNumber } from '../../kit/formats.ts'
import { SideList } from '../../kit/side-list.tsx'
import { FileMenu } from '../../kit/row-files/file-menu.tsx'
import { SplitView, Toolbar } from '../../kit/split-view.tsx'
import { FirstUse, OfflineBanner } from '../../kit/empty-state.tsx'
import { common } from '../../kit/words.ts'
import { bookmarks, entries, folder, folders, searchText, titleOf, webAddress, type Bookmark } from './store.ts'
import { words } from './words.ts'

/** Bookmarks rendered at first, and added on each request. */
const PAGE_SIZE = 300

const create = (): void => entries.create({ folder: folder.value === '*' || folder.value === '' ? null : folder.value })

function Line({ bookmark }: { bookmark: Bookmark }) {
  const address = webAddress(bookmark.url)
  const title = titleOf(bookmark)
  return (
    <li class="bookmark">
      <span class="bookmark-letter" aria-hidden="true">
        {[...(address?.hostname.replace(/^www\./, '') ?? '?')][0]?.toUpperCase()}
      </span>
      {address ? (
        <a href={address.href} target="_blank" rel="noopener noreferrer">
          <strong>{title}</strong>
          <span>
            {address.host}
            {address.pathname === '/' ? '' : address.pathname}
          </span>
        </a>
      ) : (
        <div>
          <strong>{title}</strong>
          <span class="problem">{words('not_opened')}</span>
        </div>
      )}
      {bookmark.note && <p>{bookmark.note.slice(0, 300)}</p>}
      <IconButton icon={Pencil} label={words('edit', title)} onClick={() => void (entries.open.value = bookmark.key)} />
    </li>
  )
}

function BookmarkDialog({ bookmark }: { bookmark: Bookmark }) {
  const entryProps = { of: entries, entry: bookmark }
  return (
    <EntryDialog {...entryProps} name={titleOf(bookmark)} title={words('bookmark')}>
      <EntryAlert {...entryProps} label={(name) => words(name as 'title')} />
      <div class="form">
        <EntryField
          {...entryProps}
          name="url"
          label={words('url')}
          type="url"
          placeholder="https://"
          check={(text) => (webAddress(text) ? undefined : words('bad_url'))}
          data-first
        />
        <EntryField {...entryProps} name="title" label={words('title')} />
        <EntryField {...entryProps} name="folder" label={words('folder')} list="folders" autocomplete="off" />
        <datalist id="folders">
          {folders.value.map(([name]) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <EntryField {...entryProps} name="note" label={words('note')} />
      </div>
    </EntryDialog>
  )
}

function List() {
  const limit = useSignal(PAGE_SIZE)
  const all = bookmarks.value
  const none = <FirstUse icon={Mark} words={words} onAdd={create} />
  const isFiltered = searchText.value !== '' || folder.value !== '*'
  return (
    <EntriesView of={entries} icon={Mark} count={all.length} isFiltered={isFiltered} empty={none}>
      <ul class="bookmarks">
        {all.slice(0, limit.value).map((bookmark) => (
          <Line key={bookmark.key} bookmark={bookmark} />
        ))}
      </ul>
      {all.length > limit.value && (
        <Button kind="quiet" onClick={() => void (limit.value += PAGE_SIZE)}>
          {common('more')} ({formatNumber(all.length - limit.value)})
        </Button>
      )}
    </EntriesView>
  )
}

export function Bookmarks() {
  const isSide = useSignal(false)
  const bookmark = entries.current.value
  return (
    <>
      <h1 class="unseen">{words('bookmarks')}</h1>
      <OfflineBanner />
      <SplitView
        label={words('folders')}
        shows={isSide.value ? 'side' : 'main'}
        back={isSide.value && (() => void (isSide.value = false))}
        side={
          <SideList
            items={[
              { key: '*', label: words('all'), icon: Mark, count: entries.all.value.length },
              ...folders.value.map(([name, count]) => ({
                key: name,
                label: name || words('unfiled'),
                icon: name === '' ? Inbox : name === folder.value ? FolderOpen : Folder,
                count,
              })),
            ]}
            selected={folder.value}
            onSelect={(key) => {
              folder.value = key
              isSide.value = false
            }}
          />
        }
        main={
          <>
            <Toolbar label={words('bookmarks')}>
              <IconButton
                icon={Folder}
                class="only-narrow"
                label={words('folders')}
                onClick={() => void (isSide.value = true)}
              />
              <SearchField label={words('search')} of={searchText} />
              <IconButton icon={Plus} label={words('new')} onClick={create} />
              <FileMenu of={entries} formats={['html']} name={words('bookmarks')} />
            </Toolbar>
            <List />
          </>
        }
      />
      {bookmark && <BookmarkDialog key={entries.open.value} bookmark={bookmark} />}
    </>
  )
}
