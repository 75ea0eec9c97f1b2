import { ArrowLeft, Ellipsis, FolderOpen, Hash, LogOut, Pencil, Search, Trash2, UserPlus, Users } from 'lucide'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { partnerOf } from '../../../client/chat/room-names.ts'
import { bridge } from '../../kit/bridge.ts'
import { IconButton } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { useFileDrop } from '../../kit/file-drop.ts'
import { Icon } from '../../kit/icon.tsx'
import { Menu } from '../../kit/menu.tsx'
import { Toolbar } from '../../kit/split-view.tsx'
import { toastError } from '../../kit/toast.tsx'
import { common } from '../../kit/words.ts'
import { Avatar } from './avatar.tsx'
import { Composer } from './composer.tsx'
import { MessageList } from './message-list.tsx'
import { typing } from './message-log.ts'
import { uploadAll } from './room-files.ts'
import { close, current, removeRoom, me, online, panel, searchesAllRooms, titleOf, type ChatRoom } from './store.ts'
import { appendLink } from './composer-state.ts'
import { words } from './words.ts'

/** The open dialog of the room. */
export const roomDialog = signal<'rename' | 'invite' | undefined>(undefined)

const toggle = (which: 'people' | 'files'): void => void (panel.value = panel.value === which ? undefined : which)

function toggleSearch(): void {
  const isOpen = panel.value === 'search' && !searchesAllRooms.value
  searchesAllRooms.value = false
  panel.value = isOpen ? undefined : 'search'
}

async function confirmAndRun(action: 'leave' | 'delete_room', room: ChatRoom): Promise<void> {
  const isLeaving = action === 'leave'
  const name = titleOf(room)
  const isConfirmed = await confirm({
    title: isLeaving ? words('leave_title', name) : words('delete_room_title', name),
    text: words(isLeaving ? 'leave_text' : 'delete_room_text'),
    action: words(isLeaving ? 'leave' : 'delete_room'),
    danger: true,
  })
  if (!isConfirmed) return
  try {
    await bridge.call(`teamChat.${action}`, { room_id: room.room_id })
    removeRoom(room.room_id)
  } catch (error) {
    toastError(error)
  }
}

function RoomHeader({ room }: { room: ChatRoom }) {
  const partner = partnerOf(room, me())
  const isChannel = room.type === 'channel'
  const mayChange = room.created_by === me() || bridge.user.value!.role === 'admin'
  const onlineCount = room.participants.filter(({ id }) => online.value.has(id)).length
  const state = partner
    ? words(online.value.has(partner.id) ? 'online' : 'offline')
    : `${words('members', room.participant_count)} · ${onlineCount} ${words('online').toLowerCase()}`
  return (
    <Toolbar label={titleOf(room)}>
      <IconButton icon={ArrowLeft} class="only-narrow" label={common('back')} onClick={close} />
      {partner ? <Avatar of={partner} dot /> : <Icon of={Hash} size={20} />}
      <div class="room-title">
        <h2>{titleOf(room)}</h2>
        <p>{state}</p>
      </div>
      <span class="space" />
      {isChannel && (
        <IconButton
          icon={Users}
          label={words('people')}
          aria-pressed={panel.value === 'people'}
          onClick={() => toggle('people')}
        />
      )}
      <IconButton
        icon={FolderOpen}
        label={words('files')}
        aria-pressed={panel.value === 'files'}
        onClick={() => toggle('files')}
      />
      <IconButton
        icon={Search}
        class="not-tiny"
        label={words('search')}
        aria-pressed={panel.value === 'search'}
        onClick={toggleSearch}
      />
      {(isChannel || mayChange) && (
        <Menu
          label={words('more_of_room')}
          items={[
            ...(isChannel
              ? [{ label: words('add_people'), icon: UserPlus, onSelect: () => void (roomDialog.value = 'invite') }]
              : []),
            ...(isChannel && mayChange
              ? [{ label: words('rename'), icon: Pencil, onSelect: () => void (roomDialog.value = 'rename') }]
              : []),
            ...(isChannel
              ? [{ label: words('leave'), icon: LogOut, onSelect: () => void confirmAndRun('leave', room) }]
              : []),
            ...(mayChange
              ? [
                  {
                    label: words('delete_room'),
                    icon: Trash2,
                    danger: true,
                    onSelect: () => void confirmAndRun('delete_room', room),
                  },
                ]
              : []),
          ]}
        >
          <Icon of={Ellipsis} />
        </Menu>
      )}
    </Toolbar>
  )
}

function Typing() {
  const names = typing.value.map(({ display_name }) => display_name)
  const [one, other] = names
  const text =
    one === undefined
      ? ''
      : other === undefined
        ? words('typing_one', one)
        : names.length === 2
          ? words('typing_two', one, other)
          : words('typing_many')
  return (
    <p class="typing" aria-live="polite">
      {text}
    </p>
  )
}

export function Room({ room }: { room: ChatRoom }) {
  const { isOver, handlers } = useFileDrop((files) => {
    const room = current.peek()!
    void uploadAll(room, files, (link) => appendLink(room, link))
  })
  const title = titleOf(room)
  useEffect(() => bridge.setTitle(`${title} – ${words('chat')}`), [title])
  return (
    <section class={`room ${isOver ? 'drop-here' : ''}`} aria-label={title} {...handlers}>
      <RoomHeader room={room} />
      <MessageList key={room.room_id} room={room.room_id} title={title} />
      <Typing />
      <Composer room={room.room_id} title={title} />
    </section>
  )
}
