import { computed, signal } from '@preact/signals'
import { partnerOf, type ChatRoom, type Person } from '../../../client/chat/room-names.ts'
import { isMentioned } from '../../../client/chat/chat-state.ts'
import { bridge } from '../../kit/bridge.ts'
import { ApiError } from '../../kit/api-error.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import type { Change } from '../../wire/protocol.ts'
import { words } from './words.ts'

export type Message = AnswerOf<'teamChat.poll'>['messages'][number]
export type { ChatRoom, Person }

/** Rooms, most recent message first. */
export const rooms = signal<readonly ChatRoom[]>([])
export const isLoaded = signal(false)
export const loadError = signal<unknown>(undefined)
/** All users. */
export const people = signal<readonly Person[]>([])
export const online = signal<ReadonlySet<number>>(new Set())
export const current = signal<number | undefined>(undefined)
/** Rooms with mentions of the user since they were last open. */
export const mentioned = signal<ReadonlySet<number>>(new Set())
export const panel = signal<'people' | 'files' | 'search' | undefined>(undefined)

/** Whether the search covers all rooms. */
export const searchesAllRooms = signal(false)

export const room = computed(() => rooms.value.find(({ room_id }) => room_id === current.value))
export const me = (): number => bridge.user.value!.id
/** A direct message has the name of the other user, who may be gone. */
export const titleOf = (one: ChatRoom): string =>
  partnerOf(one, me())?.display_name ?? (one.type === 'dm' ? words('former_user') : one.name)

/** Interval of presence updates, ms. */
const PRESENCE_INTERVAL = 20_000
/** Delay in which changes are collected before rooms are reloaded, ms. */
const RELOAD_DELAY = 150

export const isFocused = (): boolean => document.visibilityState === 'visible' && document.hasFocus()

/** Whether a retry may succeed. */
export const isTransient = (error: unknown): boolean =>
  error instanceof ApiError && ['unreachable', 'busy', 'rate_limited', 'maintenance', 'internal'].includes(error.code)

export async function loadRooms(): Promise<void> {
  try {
    rooms.value = (await bridge.call('teamChat.rooms', {})).rooms
    isLoaded.value = true
    loadError.value = undefined
    if (current.value !== undefined && !room.value) close()
  } catch (error) {
    loadError.value = error
  }
}

export async function loadPeople(): Promise<void> {
  people.value = (await bridge.call('teamChat.users', {})).users
}

async function refreshPresence(): Promise<void> {
  if (document.visibilityState !== 'visible') return
  const room_id = current.value
  const here = room_id === undefined ? undefined : bridge.call('teamChat.presence', { room_id })
  const [{ users }] = await Promise.all([bridge.call('teamChat.online', {}), here])
  online.value = new Set(users.map(({ id }) => id))
}

/** Removes a room that the user has left. */
export function removeRoom(removed: number): void {
  rooms.value = rooms.value.filter(({ room_id }) => room_id !== removed)
  if (current.value === removed) close()
}

export function close(): void {
  current.value = undefined
  panel.value = undefined
}

export function putRoom(changed: ChatRoom): void {
  rooms.value = [changed, ...rooms.value.filter(({ room_id }) => room_id !== changed.room_id)]
}

export function updateLastMessage(message: Message): void {
  const known = rooms.value.find(({ room_id }) => room_id === message.room_id)
  if (!known || (known.last_message && known.last_message.timestamp >= message.timestamp)) return
  putRoom({ ...known, last_message: message })
}

export function markRead(room_id: number): void {
  if (current.value !== room_id || !isFocused()) return
  mentioned.value = new Set([...mentioned.value].filter((one) => one !== room_id))
  rooms.value = rooms.value.map((one) => (one.room_id === room_id ? { ...one, unread_count: 0 } : one))
  // After an error, the next message or focus marks it again.
  void bridge.call('teamChat.read', { room_id }).catch(() => undefined)
}

export async function openDirectMessage(person: Person): Promise<void> {
  const name = `${bridge.user.value!.username}, ${person.username}`.slice(0, 100)
  const answer = await bridge.call('teamChat.create_room', { name, type: 'dm', participants: [person.id] })
  putRoom(answer.room)
  current.value = answer.room.room_id
}

let reloadTimer: ReturnType<typeof setTimeout> | undefined

function onChanges(changes: readonly Change[]): void {
  for (const { table, operation, data } of changes) {
    if (table !== 'svc_messages' || operation !== 'INSERT') continue
    const { room_id, user_id, content } = data as unknown as Message
    if (user_id === me() || (room_id === current.value && isFocused())) continue
    if (isMentioned(content, bridge.user.value!.username)) mentioned.value = new Set([...mentioned.value, room_id])
  }
  reloadTimer ??= setTimeout(() => {
    reloadTimer = undefined
    void loadRooms()
  }, RELOAD_DELAY)
}

/** Loads users and rooms, and keeps them up to date. */
export function startChat(): void {
  // After an error, the next refresh follows soon.
  const refresh = () => void refreshPresence().catch(() => undefined)
  bridge.watch(['svc_rooms', 'svc_messages'], onChanges)
  void loadRooms()
  void loadPeople().catch(() => undefined)
  refresh()
  setInterval(refresh, PRESENCE_INTERVAL)
  current.subscribe((room_id) => {
    refresh()
    bridge.setLocation(room_id === undefined ? '/' : `/${room_id}`)
  })
  addEventListener('focus', () => {
    if (current.value !== undefined) markRead(current.value)
  })
}

/** Opens a requested path: `/12` is a room id, `/@ada` the direct message with a user. */
export function followPath(path: string): void {
  const id = /^\/(\d+)$/.exec(path)?.[1]
  if (id !== undefined) current.value = Number(id)
  const name = /^\/@(.+)$/.exec(path)?.[1]
  if (name === undefined) return
  void loadPeople()
    .then(() => {
      const person = people.value.find(({ username }) => username === name)
      return person && openDirectMessage(person)
    })
    .catch((error: unknown) => (loadError.value = error))
}
