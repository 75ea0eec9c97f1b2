import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ArrowDown, MessagesSquare } from 'lucide'
import { Button, IconButton } from '../../kit/button.tsx'
import { formatDate, formatDay } from '../../kit/formats.ts'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { toastError } from '../../kit/toast.tsx'
import { describeError } from '../../kit/api-error.ts'
import { active, MessageLine, PendingLine } from './message.tsx'
import { logs, logError, firstUnread, loadOlder, targetMessage } from './message-log.ts'
import { pending } from './outbox.ts'
import { me, type Message } from './store.ts'
import { words } from './words.ts'

/** Messages rendered at a time, and the step by which that window moves. */
const WINDOW_SIZE = 150
const WINDOW_STEP = 50
/** Distance from an edge at which more messages are loaded, pixels. */
const EDGE_DISTANCE = 400
/** Messages of one author within this time are grouped, ms. */
const GROUP_MS = 5 * 60_000

function dayOf(timestamp: string, now = new Date()): string {
  const date = new Date(timestamp)
  const days = Math.round((new Date(now.toDateString()).getTime() - new Date(date.toDateString()).getTime()) / 864e5)
  if (days === 0) return words('today')
  if (days === 1) return words('yesterday')
  return date.getFullYear() === now.getFullYear() ? formatDay(date) : formatDate(date)
}

function isGrouped(message: Message, before: Message | undefined): boolean {
  return (
    before !== undefined &&
    before.user_id === message.user_id &&
    before.is_assistant === message.is_assistant &&
    message.reply_to === null &&
    new Date(message.timestamp).getTime() - new Date(before.timestamp).getTime() < GROUP_MS
  )
}

function Lines({ messages, start, end }: { messages: readonly Message[]; start: number; end: number }) {
  const byId = new Map(messages.map((one) => [one.message_id, one]))
  return (
    <>
      {messages.slice(start, end).map((message, offset) => {
        const before = messages[start + offset - 1]
        const day = dayOf(message.timestamp)
        const isNewDay = !before || dayOf(before.timestamp) !== day
        const isNew = firstUnread.value === message.message_id
        return (
          <div key={message.message_id} class="line">
            {isNewDay && (
              <p class="day">
                <span>{day}</span>
              </p>
            )}
            {isNew && (
              <p class="day new">
                <span>{words('new_here')}</span>
              </p>
            )}
            <MessageLine
              message={message}
              isContinuation={!isNewDay && !isNew && isGrouped(message, before)}
              repliedTo={message.reply_to === null ? undefined : byId.get(message.reply_to)}
              isHighlighted={highlighted.value === message.message_id}
            />
          </div>
        )
      })}
    </>
  )
}

const highlighted = signal<number | undefined>(undefined)

/** Position of a message on the screen, to be restored when messages are added above it. */
interface Anchor {
  id: string
  top: number
}

function anchorOf(container: HTMLElement): Anchor | undefined {
  const { top } = container.getBoundingClientRect()
  for (const element of container.querySelectorAll<HTMLElement>('[data-id]')) {
    const box = element.getBoundingClientRect()
    if (box.bottom > top) return { id: element.dataset['id']!, top: box.top }
  }
  return undefined
}

function moveFocus(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
  const target = event.target instanceof HTMLElement ? event.target : undefined
  if (step === undefined || !target || target.closest('[role=menu]')) return
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-id]')]
  const at = all.findIndex((one) => one.contains(target))
  const next = at < 0 ? all.at(-1) : all[at + step]
  next?.focus()
  if (next) event.preventDefault()
}

/** Stays at the end when the height changes. */
function useSize(container: { current: HTMLElement | null }, isShown: boolean, isAtEnd: { current: boolean }): void {
  useEffect(() => {
    const element = container.current
    if (!element) return
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) element.scrollTop = element.scrollHeight
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [isShown])
}

/** The messages of a room; renders only a window of them. */
export function MessageList({ room, title }: { room: number; title: string }) {
  const container = useRef<HTMLDivElement>(null)
  const anchor = useRef<Anchor | undefined>(undefined)
  const isAtEnd = useRef(true)
  const [isAway, setAway] = useState(false)
  const [isLoadingMore, setLoadingMore] = useState(false)
  // The last rendered message; undefined for the newest.
  const [last, setLast] = useState<number | undefined>(undefined)
  const log = logs.value.get(room)
  const messages = log?.messages ?? []
  const found = last === undefined ? -1 : messages.findIndex(({ message_id }) => message_id === last)
  const end = found < 0 ? messages.length : found + 1
  const start = Math.max(0, end - WINDOW_SIZE)
  const pendingHere = pending.value.filter((one) => one.room_id === room && !one.isArrived)

  const saveAnchor = () => {
    anchor.current = isAtEnd.current || !container.current ? undefined : anchorOf(container.current)
  }

  useLayoutEffect(() => {
    const element = container.current
    if (!element) return
    const anchored = anchor.current && element.querySelector(`[data-id="${anchor.current.id}"]`)
    if (anchored) element.scrollTop += anchored.getBoundingClientRect().top - anchor.current!.top
    else if (isAtEnd.current && end === messages.length) element.scrollTop = element.scrollHeight
  }, [start, end, messages, pendingHere.length, log === undefined])

  // Scroll to the user's own message.
  useEffect(() => {
    if (pendingHere.length > 0) toEnd()
  }, [pendingHere.length])

  useSize(container, log !== undefined, isAtEnd)

  useEffect(() => {
    const id = targetMessage.value
    const at = messages.findIndex(({ message_id }) => message_id === id)
    if (at < 0 || !container.current) return
    const element = container.current.querySelector<HTMLElement>(`[data-id="${id}"]`)
    if (!element) {
      isAtEnd.current = false
      anchor.current = undefined
      showUpTo(at + WINDOW_STEP)
      return
    }
    isAtEnd.current = false
    anchor.current = undefined
    element.scrollIntoView({ block: 'center' })
    element.focus({ preventScroll: true })
    highlighted.value = id
    targetMessage.value = undefined
  }, [targetMessage.value, start, end])

  function toEnd(): void {
    isAtEnd.current = true
    anchor.current = undefined
    setLast(undefined)
    setAway(false)
    // Messages can be waiting to be sent before those of the room are loaded.
    if (container.current) container.current.scrollTop = container.current.scrollHeight
  }

  /** Moves the window so that it ends with a message, or with the newest. */
  function showUpTo(index: number): void {
    setLast(messages[index]?.message_id)
  }

  async function more(): Promise<void> {
    setLoadingMore(true)
    try {
      await loadOlder(room)
      saveAnchor()
      const now = logs.value.get(room)?.messages ?? []
      setLast(now[WINDOW_SIZE - 1]?.message_id)
    } catch (error) {
      toastError(error)
    } finally {
      setLoadingMore(false)
    }
  }

  function onScroll(): void {
    const { scrollTop, scrollHeight, clientHeight } = container.current!
    const below = scrollHeight - scrollTop - clientHeight
    isAtEnd.current = below < 40 && end === messages.length
    saveAnchor()
    setAway(!isAtEnd.current && (below > clientHeight || end < messages.length))
    if (scrollTop < EDGE_DISTANCE && start > 0) showUpTo(Math.max(WINDOW_SIZE, end - WINDOW_STEP) - 1)
    else if (scrollTop < EDGE_DISTANCE && log?.hasMore && !isLoadingMore) void more()
    else if (below < EDGE_DISTANCE && end < messages.length) showUpTo(end + WINDOW_STEP - 1)
    else if (below >= EDGE_DISTANCE && last === undefined) showUpTo(end - 1)
  }

  if (!log && logError.value !== undefined)
    return <EmptyState icon={MessagesSquare} title={describeError(logError.value)} />
  if (!log) return <Loading />
  return (
    <div class="history-around">
      <div
        ref={container}
        class="history"
        role="log"
        aria-label={`${words('messages')}: ${title}`}
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={moveFocus}
        onPointerLeave={() => {
          if (!container.current?.contains(document.activeElement)) active.value = undefined
        }}
      >
        <div class="filler" />
        {log.hasMore ? (
          <p class="older">
            <Button kind="quiet" busy={isLoadingMore} onClick={() => void more()}>
              {words('older')}
            </Button>
          </p>
        ) : (
          start === 0 && <p class="older">{words('beginning')}</p>
        )}
        <Lines messages={messages} start={start} end={end} />
        {end === messages.length && pendingHere.map((one) => <PendingLine key={one.client_id} message={one} />)}
      </div>
      {isAway && <IconButton class="to-end" icon={ArrowDown} label={words('to_end')} onClick={toEnd} />}
    </div>
  )
}

export const lastOwn = (room: number): Message | undefined =>
  logs.value.get(room)?.messages.findLast(({ user_id }) => user_id === me())
