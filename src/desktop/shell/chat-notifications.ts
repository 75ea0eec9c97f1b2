import { computed, signal } from '@preact/signals'
import { partnerOf, type ChatRoom } from '../../client/chat/room-names.ts'
import { isMentioned } from '../../client/chat/chat-state.ts'
import type { AnswerOf } from '../wire/actions.ts'
import { appBySlug } from './apps.ts'
import { markPathRead, notify } from './desktop-notifications.ts'
import { onChanges } from './feed.ts'
import { call, isUnlocked, user } from './session.ts'
import { front } from './windows.ts'
import { words } from './words.ts'

type Message = AnswerOf<'teamChat.messages'>['messages'][number]

/** Unread messages of a room that are searched for mentions. */
const MAX_SEARCHED = 100
/** Rooms with unread messages that are searched at the start. */
const MAX_ROOMS = 20

let rooms: readonly ChatRoom[] = []

/** Unread direct messages and mentions, by room. */
const unreadByRoom = signal<ReadonlyMap<number, number>>(new Map())

/** Number of unread messages to the user. */
export const unreadMessages = computed(() => [...unreadByRoom.value.values()].reduce((sum, count) => sum + count, 0))

function setUnread(room_id: number, count: number): void {
  const next = new Map(unreadByRoom.value)
  if (count > 0) next.set(room_id, count)
  else next.delete(room_id)
  unreadByRoom.value = next
}

const pathOf = (room_id: number): string => `/${room_id}`

export function markRoomRead(room_id: number): void {
  setUnread(room_id, 0)
  markPathRead('chat', pathOf(room_id))
}

/** Whether the room is visible to the user. */
const isShown = (room_id: number): boolean =>
  document.hasFocus() &&
  document.activeElement?.getAttribute('data-app') === 'chat' &&
  front.value?.slug === 'chat' &&
  front.value.location === pathOf(room_id)

const isForUser = ({ type }: ChatRoom, { user_id, content }: Message): boolean =>
  user_id !== user.value!.id && (type === 'dm' || isMentioned(content, user.value!.username))

function announce(room: ChatRoom, { user_id, content }: Message): void {
  const author = room.participants.find(({ id }) => id === user_id)?.display_name ?? words('unknown_author')
  const title = partnerOf(room, user.value!.id) ? author : `${author} · ${room.name}`
  notify('chat', title, content.slice(0, 300), pathOf(room.room_id))
}

const loadRooms = async (): Promise<void> => void (rooms = (await call('teamChat.rooms', {})).rooms)

async function checkRooms(): Promise<void> {
  await loadRooms()
  const unread = rooms.filter(({ unread_count }) => unread_count > 0)
  for (const { room_id } of rooms.filter(({ unread_count }) => unread_count === 0)) markRoomRead(room_id)
  for (const room of unread.slice(0, MAX_ROOMS)) {
    const { room_id, unread_count } = room
    const limit = Math.min(unread_count, MAX_SEARCHED)
    const { messages } = await call('teamChat.messages', { room_id, limit })
    const found = messages.filter((message) => isForUser(room, message))
    const newest = found.at(-1)
    const known = unreadByRoom.value.get(room_id) ?? 0
    if (newest && found.length > known && !isShown(room_id)) announce(room, newest)
    setUnread(room_id, found.length)
  }
}

async function announceNew(messages: readonly Message[]): Promise<void> {
  if (messages.some(({ room_id }) => !rooms.some((room) => room.room_id === room_id))) await loadRooms()
  for (const message of messages) {
    const { room_id } = message
    const room = rooms.find((one) => one.room_id === room_id)
    if (!room || !isForUser(room, message) || isShown(room_id)) continue
    setUnread(room_id, (unreadByRoom.value.get(room_id) ?? 0) + 1)
    announce(room, message)
  }
}

export function startChatNotifications(): void {
  if (!appBySlug('chat')) return
  // Errors are ignored: the next check finds the same messages.
  const check = (): void => void checkRooms().catch(() => undefined)
  onChanges((changes, reset) => {
    if (reset) return check()
    if (changes.some(({ table }) => table === 'svc_rooms')) rooms = []
    const messages = changes
      .filter(({ table, operation }) => table === 'svc_messages' && operation === 'INSERT')
      .map(({ data }) => data as unknown as Message)
      .filter(({ user_id }) => user_id !== user.value?.id)
    if (messages.length > 0) void announceNew(messages).catch(() => undefined)
  })
  // Rooms may have been read on another device.
  document.addEventListener('visibilitychange', () => document.hidden || !isUnlocked.value || check())
  check()
}
