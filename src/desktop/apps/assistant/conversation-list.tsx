import { MessageSquare, SquarePen } from 'lucide'
import { useState } from 'preact/hooks'
import { Button, IconButton } from '../../kit/button.tsx'
import { SearchField } from '../../kit/field.tsx'
import { formatWhen } from '../../kit/formats.ts'
import { Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import {
  newConversation,
  conversations,
  current,
  isRunning,
  listError,
  loadList,
  open,
  show,
  titleOf,
  unsavedThreads,
} from './store.ts'
import { words } from './words.ts'

/** Number of conversations from which on the search field is shown. */
const SEARCH_FROM = 8

function Line({
  title,
  when,
  isCurrent,
  isBusy,
  onSelect,
}: {
  title: string
  when: string | undefined
  isCurrent: boolean
  isBusy: boolean
  onSelect: () => void
}) {
  return (
    <li>
      <button type="button" class="conversation" aria-current={isCurrent ? 'true' : undefined} onClick={onSelect}>
        <span>{title}</span>
        {isBusy ? (
          <span class="spinner" role="img" aria-label={words('works')} />
        ) : (
          when !== undefined && <time>{formatWhen(when)}</time>
        )}
      </button>
    </li>
  )
}

function List({ searchText }: { searchText: string }) {
  const known = conversations.value
  if (!known && listError.value !== undefined) {
    return (
      <EmptyState icon={MessageSquare} title={describeError(listError.value)}>
        <Button onClick={() => void loadList()}>{common('retry')}</Button>
      </EmptyState>
    )
  }
  if (!known) return <Loading />
  if (known.length === 0 && unsavedThreads.value.length === 0)
    return <EmptyState icon={MessageSquare} title={words('none_yet')} />
  const found = known.filter(({ title }) => title.toLowerCase().includes(searchText.trim().toLowerCase()))
  if (found.length === 0 && known.length > 0 && searchText !== '')
    return <p class="none-found">{words('none_found')}</p>
  return (
    <ul class="conversation-list">
      {unsavedThreads.value.map((thread) => (
        <Line
          key={thread.key}
          title={titleOf(thread)}
          when={undefined}
          isCurrent={current.value === thread}
          isBusy={thread.running.value !== undefined}
          onSelect={() => show(thread)}
        />
      ))}
      {found.map(({ conversation_id: id, title, updated_at }) => (
        <Line
          key={id}
          title={title}
          when={updated_at}
          isCurrent={current.value.id.value === id}
          isBusy={isRunning(id)}
          onSelect={() => open(id)}
        />
      ))}
    </ul>
  )
}

/** All conversations, most recently used first. */
export function ConversationList() {
  const [searchText, setSearchText] = useState('')
  return (
    <>
      <Toolbar label={words('conversations')}>
        <strong class="side-title">{words('conversations')}</strong>
        <span class="space" />
        <IconButton icon={SquarePen} label={words('new_conversation')} onClick={newConversation} />
      </Toolbar>
      {(conversations.value?.length ?? 0) >= SEARCH_FROM && (
        <div class="side-search">
          <SearchField label={words('search')} value={searchText} onText={setSearchText} />
        </div>
      )}
      <List searchText={searchText} />
    </>
  )
}
