import { computed, signal } from '@preact/signals'
import { partnerOf, type ChatRoom, type Person } from '../../../client/chat/room-names.ts'
import { isMentioned } from '../../../client/chat/state.ts'
import { bridge } from '../../kit/bridge.ts'
import { Trouble } from '../../kit/trouble.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import type { Change } from '../../wire/protocol.ts'
import { words } from './words.ts'

export type Message = AnswerOf<'teamChat.poll'>['messages'][number]
export type { ChatRoom, Person }

/** The one with the newest message first. */
export const rooms = signal<readonly ChatRoom[]>([])
export const isLoaded = signal(false)
/** Why there are no rooms to show; undefined when nothing is the matter. */
export const trouble = signal<unknown>(undefined)
/** Everybody one can talk to. */
export const people = signal<readonly Person[]>([])
export const online = signal<ReadonlySet<number>>(new Set())
/** Id of the room that is open. */
export const current = signal<number | undefined>(undefined)
/** Rooms in which somebody named the user since they were last open. */
export const mentioned = signal<ReadonlySet<number>>(new Set())
/** What stands beside the room. */
export const panel = signal<'people' | 'files' | 'search' | undefined>(undefined)

export const room = computed(() => rooms.value.find(({ room_id }) => room_id === current.value))
export const me = (): number => bridge.user.value!.id
/** A direct conversation is called after the other one in it, who may be gone. */
export const titleOf = (one: ChatRoom): string =>
  partnerOf(one, me())?.display_name ?? (one.type === 'dm' ? words('former_user') : one.name)

/** Milliseconds between looks at who is there, and words that the user is. */
const LOOK = 20_000
/** Milliseconds that changes are gathered before rooms are asked for anew. */
const GATHER = 150

export const isFocused = (): boolean => document.visibilityState === 'visible' && document.hasFocus()

/** Whether waiting mends it. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Trouble && ['unreachable', 'busy', 'rate_limited', 'maintenance', 'internal'].includes(error.code)

export async function loadRooms(): Promise<void> {
  try {
    rooms.value = (await bridge.call('teamChat.rooms', {})).rooms
    isLoaded.value = true
    trouble.value = undefined
    if (current.value !== undefined && !room.value) close()
  } catch (error) {
    trouble.value = error
  }
}

export async function loadPeople(): Promise<void> {
  people.value = (await bridge.call('teamChat.users', {})).users
}

async function look(): Promise<void> {
  if (document.visibilityState !== 'visible') return
  const room_id = current.value
  const here = room_id === undefined ? undefined : bridge.call('teamChat.presence', { room_id })
  const [{ users }] = await Promise.all([bridge.call('teamChat.online', {}), here])
  online.value = new Set(users.map(({ id }) => id))
}

/** Forgets a room that the user is no longer in. */
export function drop(gone: number): void {
  rooms.value = rooms.value.filter(({ room_id }) => room_id !== gone)
  if (current.value === gone) close()
}

export function close(): void {
  current.value = undefined
  panel.value = undefined
}

export function put(changed: ChatRoom): void {
  rooms.value = [changed, ...rooms.value.filter(({ room_id }) => room_id !== changed.room_id)]
}

/** Puts a message that was just said where its room shows the last one, and the room in its place. */
export function noteLast(message: Message): void {
  const known = rooms.value.find(({ room_id }) => room_id === message.room_id)
  if (!known || (known.last_message && known.last_message.timestamp >= message.timestamp)) return
  put({ ...known, last_message: message })
}

export function markRead(room_id: number): void {
  if (current.value !== room_id || !isFocused()) return
  mentioned.value = new Set([...mentioned.value].filter((one) => one !== room_id))
  rooms.value = rooms.value.map((one) => (one.room_id === room_id ? { ...one, unread_count: 0 } : one))
  // It is marked again with the next message, or when the window is looked at.
  void bridge.call('teamChat.read', { room_id }).catch(() => undefined)
}

/** Opens the conversation with somebody, a new one where there is none. */
export async function talkTo(person: Person): Promise<void> {
  const name = `${bridge.user.value!.username}, ${person.username}`.slice(0, 100)
  const answer = await bridge.call('teamChat.create_room', { name, type: 'dm', participants: [person.id] })
  put(answer.room)
  current.value = answer.room.room_id
}

let gathering: ReturnType<typeof setTimeout> | undefined

function hear(changes: readonly Change[]): void {
  for (const { table, operation, data } of changes) {
    if (table !== 'svc_messages' || operation !== 'INSERT') continue
    const { room_id, user_id, content } = data as unknown as Message
    if (user_id === me() || (room_id === current.value && isFocused())) continue
    const where = rooms.value.find((one) => one.room_id === room_id)
    const isNamed = isMentioned(content, bridge.user.value!.username)
    if (isNamed) mentioned.value = new Set([...mentioned.value, room_id])
    if (!isNamed && where?.type !== 'dm') continue
    const who = people.value.find(({ id }) => id === user_id)?.display_name ?? ''
    bridge.notify(where?.type === 'dm' || !where ? who || '@' : `${who} · ${where.name}`, content.slice(0, 300))
  }
  gathering ??= setTimeout(() => {
    gathering = undefined
    void loadRooms()
  }, GATHER)
}

/** Begins to know what there is, and goes on knowing it. */
export function begin(): void {
  // What fails here is asked for again at the next look.
  const again = () => void look().catch(() => undefined)
  bridge.watch(['svc_rooms', 'svc_messages'], hear)
  void loadRooms()
  void loadPeople().catch(() => undefined)
  again()
  setInterval(again, LOOK)
  current.subscribe(again)
  addEventListener('focus', () => {
    if (current.value !== undefined) markRead(current.value)
  })
}

/** Shows what the desktop was asked to show: `/12` is the room with that id, `/@ada` the conversation with somebody. */
export function followPath(path: string): void {
  const id = /^\/(\d+)$/.exec(path)?.[1]
  if (id !== undefined) current.value = Number(id)
  const name = /^\/@(.+)$/.exec(path)?.[1]
  if (name === undefined) return
  void loadPeople()
    .then(() => {
      const person = people.value.find(({ username }) => username === name)
      return person && talkTo(person)
    })
    .catch((error: unknown) => (trouble.value = error))
}
