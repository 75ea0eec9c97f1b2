import { Copy, CornerUpLeft, Ellipsis, Pencil, RotateCw, Trash2 } from 'lucide'
import { signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { copy } from '../../kit/clipboard.ts'
import { formatDateTime, formatTime } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { Menu } from '../../kit/menu.tsx'
import { toastError } from '../../kit/toast.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import { authorOf } from './author.ts'
import { Avatar } from './avatar.tsx'
import { edit, reply } from './composer-state.ts'
import { EmojiPicker } from './emoji-picker.tsx'
import { jumpTo } from './message-log.ts'
import { confirmAndDelete, react } from './message-actions.ts'
import { MessageText } from './message-text.tsx'
import { discard, retry, type Pending } from './outbox.ts'
import { me, people, type Message } from './store.ts'
import { plainText } from '../../kit/plain-text.ts'
import { words } from './words.ts'

/** The message under the pointer or with the focus; its actions are visible. */
export const active = signal<number | undefined>(undefined)

function Actions({ message }: { message: Message }) {
  const isOwn = message.user_id === me()
  const mayDelete = isOwn || bridge.user.value!.role === 'admin'
  return (
    <div class="message-actions">
      <EmojiPicker label={words('react')} onPick={(emoji) => void react(message, emoji)} />
      <IconButton icon={CornerUpLeft} label={words('reply')} onClick={() => reply(message)} />
      <Menu
        label={common('more')}
        items={[
          { label: words('copy'), icon: Copy, onSelect: () => void copy(message.content) },
          ...(isOwn ? [{ label: words('edit'), icon: Pencil, onSelect: () => edit(message) }] : []),
          ...(mayDelete
            ? [{ label: common('delete'), icon: Trash2, danger: true, onSelect: () => void confirmAndDelete(message) }]
            : []),
        ]}
      >
        <Icon of={Ellipsis} />
      </Menu>
    </div>
  )
}

const nameOf = (id: number): string => people.value.find((one) => one.id === id)?.display_name ?? '…'

const Reactions = ({ message }: { message: Message }) =>
  message.reactions.length === 0 ? null : (
    <div class="reactions">
      {message.reactions.map(({ emoji, count, user_ids, mine }) => {
        const names = user_ids.map((id) => (id === me() ? bridge.user.value!.display_name : nameOf(id))).join(', ')
        return (
          <button
            key={emoji}
            type="button"
            aria-pressed={mine}
            aria-label={words('reacted', `${emoji} ${count}`, names)}
            title={names}
            onClick={() => void react(message, emoji)}
          >
            {emoji} <span>{count}</span>
          </button>
        )
      })}
    </div>
  )

function RepliedMessage({
  room_id,
  message_id,
  known,
}: {
  room_id: number
  message_id: number
  known: Message | undefined
}) {
  return (
    <button type="button" class="answered" onClick={() => void jumpTo({ room_id, message_id }).catch(toastError)}>
      <Icon of={CornerUpLeft} size={13} />
      {known && <strong>{authorOf(known).display_name}</strong>}
      <span>{known ? plainText(known.content) : '…'}</span>
    </button>
  )
}

/** A message; `follows` omits the author if the previous message has the same. */
export function MessageLine({
  message,
  isContinuation,
  repliedTo,
  isHighlighted,
}: {
  message: Message
  isContinuation: boolean
  repliedTo: Message | undefined
  isHighlighted: boolean
}) {
  const { message_id, reply_to } = message
  const isActive = active.value === message_id
  const author = authorOf(message)
  return (
    <article
      class={`message ${isContinuation ? 'follows' : ''} ${isHighlighted ? 'marked' : ''}`}
      data-id={message_id}
      aria-label={`${author.display_name}, ${formatTime(message.timestamp)}`}
      tabIndex={-1}
      onPointerEnter={() => void (active.value = message_id)}
      onFocusIn={() => void (active.value = message_id)}
    >
      {isContinuation ? <span class="beside" /> : <Avatar of={author} />}
      <div class="message-body">
        {!isContinuation && (
          <header>
            <strong>{author.display_name}</strong>
            {message.is_assistant && <span class="tag">{words('assistant')}</span>}
            <time dateTime={message.timestamp} title={formatDateTime(message.timestamp)}>
              {formatTime(message.timestamp)}
            </time>
          </header>
        )}
        {reply_to !== null && <RepliedMessage room_id={message.room_id} message_id={reply_to} known={repliedTo} />}
        <MessageText text={message.content} />
        {message.edited_at !== null && (
          <small class="edited" title={formatDateTime(message.edited_at)}>
            {words('edited')}
          </small>
        )}
        <Reactions message={message} />
      </div>
      {isActive && <Actions message={message} />}
    </article>
  )
}

/** A message that was not delivered yet. */
export const PendingLine = ({ message }: { message: Pending }) => (
  <article class={`message pending ${message.state}`} aria-label={words(message.state)}>
    <span class="beside" />
    <div class="message-body">
      <MessageText text={message.content} />
      {message.state === 'sending' ? (
        <small class="edited">{words('sending')}</small>
      ) : (
        <div class="unsent" role="alert">
          <span>
            {words(message.state)}
            {message.error !== undefined && ` ${describeError(message.error)}`}
          </span>
          <Button kind="quiet" icon={RotateCw} onClick={() => retry(message.client_id)}>
            {common('retry')}
          </Button>
          <Button kind="quiet" onClick={() => discard(message.client_id)}>
            {common('discard')}
          </Button>
        </div>
      )}
    </div>
  </article>
)
