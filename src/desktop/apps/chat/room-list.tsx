import { AtSign, Hash, MessageSquarePlus, MessagesSquare, Plus, Search, Users } from 'lucide'
import { signal } from '@preact/signals'
import { partnerOf } from '../../../client/chat/room-names.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { formatWhen } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { Menu } from '../../kit/menu.tsx'
import { Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import { authorOf } from './author.ts'
import { Avatar } from './avatar.tsx'
import {
  current,
  isLoaded,
  loadRooms,
  me,
  mentioned,
  panel,
  rooms,
  searchesAllRooms,
  titleOf,
  loadError,
  type ChatRoom,
} from './store.ts'
import { plainText } from '../../kit/plain-text.ts'
import { words } from './words.ts'

/** The open dialog. */
export const creating = signal<'room' | 'direct' | undefined>(undefined)

function lastMessageText({ last_message, type }: ChatRoom): string {
  if (!last_message) return words('no_messages')
  const text = plainText(last_message.content)
  if (last_message.user_id === me()) return words('you_said', text)
  return type === 'dm' ? text : `${authorOf(last_message).display_name}: ${text}`
}

function Line({ room }: { room: ChatRoom }) {
  const partner = partnerOf(room, me())
  const isOpen = current.value === room.room_id
  const isMentioned = mentioned.value.has(room.room_id)
  return (
    <li>
      <button
        type="button"
        class={`room-line ${room.unread_count > 0 ? 'unread' : ''}`}
        aria-current={isOpen ? 'true' : undefined}
        onClick={() => void (current.value = room.room_id)}
      >
        {partner ? (
          <Avatar of={partner} dot />
        ) : (
          <span class="avatar channel">
            <Icon of={room.type === 'dm' ? Users : Hash} size={17} />
          </span>
        )}
        <span class="room-name">{titleOf(room)}</span>
        {room.last_message && <time>{formatWhen(room.last_message.timestamp)}</time>}
        <span class="last-words">{lastMessageText(room)}</span>
        {room.unread_count > 0 && (
          <span class={`count ${isMentioned ? 'named' : ''}`}>
            {isMentioned && <Icon of={AtSign} size={12} />}
            <span aria-hidden="true">{room.unread_count > 99 ? '99+' : room.unread_count}</span>
            <span class="unseen">
              {words('unread', room.unread_count)}
              {isMentioned && `, ${words('named')}`}
            </span>
          </span>
        )}
      </button>
    </li>
  )
}

const Group = ({ title, of }: { title: string; of: readonly ChatRoom[] }) =>
  of.length === 0 ? null : (
    <section>
      <h2>{title}</h2>
      <ul>
        {of.map((one) => (
          <Line key={one.room_id} room={one} />
        ))}
      </ul>
    </section>
  )

function List() {
  if (!isLoaded.value && loadError.value !== undefined) {
    return (
      <EmptyState icon={MessagesSquare} title={describeError(loadError.value)}>
        <Button onClick={() => void loadRooms()}>{common('retry')}</Button>
      </EmptyState>
    )
  }
  if (!isLoaded.value) return <Loading />
  if (rooms.value.length === 0) {
    return (
      <EmptyState icon={MessagesSquare} title={words('none_yet')}>
        <p>{words('none_yet_text')}</p>
        <Button kind="main" icon={Plus} onClick={() => void (creating.value = 'direct')}>
          {words('new_direct')}
        </Button>
      </EmptyState>
    )
  }
  return (
    <div class="room-list">
      <Group title={words('rooms')} of={rooms.value.filter(({ type }) => type === 'channel')} />
      <Group title={words('direct')} of={rooms.value.filter(({ type }) => type === 'dm')} />
    </div>
  )
}

function toggleSearch(): void {
  const isOpen = panel.value === 'search' && searchesAllRooms.value
  searchesAllRooms.value = !isOpen
  panel.value = isOpen ? undefined : 'search'
}

/** All rooms with their unread counts. */
export const RoomList = () => (
  <>
    <Toolbar label={words('chat')}>
      <strong class="side-title">{words('chat')}</strong>
      <span class="space" />
      <IconButton
        icon={Search}
        label={words('search')}
        aria-pressed={panel.value === 'search' && searchesAllRooms.value}
        onClick={toggleSearch}
      />
      <Menu
        label={words('new')}
        items={[
          { label: words('new_direct'), icon: AtSign, onSelect: () => void (creating.value = 'direct') },
          { label: words('new_room'), icon: Hash, onSelect: () => void (creating.value = 'room') },
        ]}
      >
        <Icon of={MessageSquarePlus} />
      </Menu>
    </Toolbar>
    <List />
  </>
)
