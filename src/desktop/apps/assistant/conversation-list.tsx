import { MessageSquare, SquarePen } from 'lucide'
import { useState } from 'preact/hooks'
import { Button, IconButton } from '../../kit/button.tsx'
import { SearchField } from '../../kit/field.tsx'
import { formatWhen } from '../../kit/formats.ts'
import { Toolbar } from '../../kit/split.tsx'
import { Empty, Loading } from '../../kit/states.tsx'
import { explain } from '../../kit/trouble.ts'
import { common } from '../../kit/words.ts'
import {
  begin,
  conversations,
  current,
  isRunning,
  listTrouble,
  loadList,
  open,
  show,
  titleOf,
  unborn,
} from './store.ts'
import { words } from './words.ts'

/** Below so many nobody needs to search. */
const WORTH_SEARCHING = 8

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

function List({ wanted }: { wanted: string }) {
  const known = conversations.value
  if (!known && listTrouble.value !== undefined) {
    return (
      <Empty icon={MessageSquare} title={explain(listTrouble.value)}>
        <Button onClick={() => void loadList()}>{common('retry')}</Button>
      </Empty>
    )
  }
  if (!known) return <Loading />
  if (known.length === 0 && unborn.value.length === 0) return <Empty icon={MessageSquare} title={words('none_yet')} />
  const found = known.filter(({ title }) => title.toLowerCase().includes(wanted.trim().toLowerCase()))
  if (found.length === 0 && known.length > 0 && wanted !== '') return <p class="none-found">{words('none_found')}</p>
  return (
    <ul class="conversation-list">
      {unborn.value.map((thread) => (
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

/** All conversations, the one used last first. */
export function ConversationList() {
  const [wanted, setWanted] = useState('')
  return (
    <>
      <Toolbar label={words('conversations')}>
        <strong class="side-title">{words('conversations')}</strong>
        <span class="space" />
        <IconButton icon={SquarePen} label={words('new_conversation')} onClick={begin} />
      </Toolbar>
      {(conversations.value?.length ?? 0) >= WORTH_SEARCHING && (
        <div class="side-search">
          <SearchField
            label={words('search')}
            value={wanted}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
        </div>
      )}
      <List wanted={wanted} />
    </>
  )
}
