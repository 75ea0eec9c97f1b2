import { monotonicOf, type Clock } from '../../base/clock.ts'
import { syncAuth } from '../../contract/sync-auth.ts'
import { teamChat } from '../../contract/team-chat.ts'
import type { Api } from '../api.ts'
import { makeConnection, type Connection } from './connection.ts'
import { followRoom, type Message } from './room-feed.ts'
import { mergeMessages } from './message-log.ts'
import { makeOutbox } from './outbox.ts'
import { makeSessionMessages } from './session-messages.ts'
import { makeSessionRooms, type SessionRooms } from './session-rooms.ts'
import { emptyState, type ChatState, type Pending } from './chat-state.ts'
import { type Sleep, interruptibleSleep } from '../../base/sleep.ts'

const { actions } = teamChat

/** Interval of polling unread counts of other rooms, ms. */
const BEAT_MS = 3_000
/** Number of beats between requests for presence. */
const ONLINE_BEATS = 7
const PRESENT_BEATS = 15
/** Interval of typing reports, ms: an indicator lasts 6 s. */
const TYPING_MS = 4_000

export interface SessionParts {
  api: Api
  /** The connection after a new sign-in; undefined until then. */
  renew: () => Promise<Api | undefined>
  clock: Clock
  sleep: Sleep
  random: () => number
  /** Called whenever the screen may need an update. */
  changed: () => void
  /** Called for each new message of another user. */
  heard: (message: Message, forMe: boolean) => void
  /** Called when an own message is rejected permanently and is no longer pending. */
  refused: (pending: Pending, error: Error) => void
  beatMs?: number
}

/**
 * A chat client without a screen: keeps its state in sync with the server until closed. One long poll follows the
 * current room; other rooms are polled every few seconds with one request.
 */
export function makeChatSession(parts: SessionParts) {
  const { clock, changed } = parts
  const state = emptyState()
  const closing = new AbortController()
  const { signal } = closing
  let isFocused = true
  let typingSentAt = -Infinity
  const { failure, background } = makeBackground(signal)
  const connection = makeConnection({
    ...parts,
    signal,
    onConnectionError: (error) => setConnectionError(state, error, changed),
  })
  const rooms = makeSessionRooms({ state, connection, changed, lost: () => opening.openFirst() })
  const outbox = makeOutbox({
    state,
    connection,
    changed,
    refused: (pending, error) => !signal.aborted && parts.refused(pending, error),
    sent(message) {
      const log = state.logs.get(message.room_id)
      if (log) mergeMessages(log, [message])
      rooms.noteLast(message)
    },
  })
  const messages = makeSessionMessages({
    ...parts,
    state,
    connection,
    rooms,
    background,
    arrived: outbox.arrived,
    isFocused: () => isFocused,
  })

  const opening = makeOpening({ state, connection, rooms, messages, background, changed })
  const { open } = opening

  return {
    state,
    api: connection.api,
    /** Rejects with a permanent error. */
    failure,
    /** Loads the own account and the rooms; waits while the server is unreachable. */
    async start(): Promise<void> {
      await loadState(state, connection)
      const catchUp = (room: number) => messages.catchUp(room).catch(rooms.unlessGone(room))
      const around = { state, connection, rooms, catchUp, isFocused: () => isFocused, changed }
      background(
        pollInBackground(around, () =>
          interruptibleSleep(parts.sleep, parts.beatMs ?? BEAT_MS, signal, () => undefined),
        ),
      )
      changed()
    },
    open,
    loadRooms: rooms.load,
    older: messages.older,
    post(content: string, reply_to?: number): void {
      if (state.current === undefined) return
      state.newFrom = undefined
      typingSentAt = -Infinity
      outbox.post(state.current, content, reply_to)
    },
    /** Reports typing, at most once per expiry; ignores errors. */
    typing(): void {
      const now = monotonicOf(clock)
      if (state.current === undefined || state.connectionError || now - typingSentAt < TYPING_MS) return
      typingSentAt = now
      connection.api.call(actions.typing, { room_id: state.current }).catch(() => undefined)
    },
    /** Messages are marked as read only while the window has the focus. */
    focus(focused: boolean): void {
      isFocused = focused
      if (focused && state.current !== undefined) messages.markRead(state.current)
      changed()
    },
    close(): void {
      closing.abort(new Error('closed'))
      opening.close()
    },
  }
}

export type ChatSession = ReturnType<typeof makeChatSession>

interface OpeningParts {
  state: ChatState
  connection: Connection
  rooms: SessionRooms
  messages: ReturnType<typeof makeSessionMessages>
  background: (work: Promise<unknown>) => void
  changed: () => void
}

/** Follows the open room until another one is opened. */
function makeOpening({ state, connection, rooms, messages, background, changed }: OpeningParts) {
  let following = new AbortController()

  async function follow(room: number, aborted: AbortSignal): Promise<void> {
    const log = await messages.load(room)
    if (aborted.aborted) return
    const unread = state.unread.get(room) ?? 0
    const others = log.messages.filter(({ user_id }) => user_id !== state.me?.id)
    state.newFrom = unread > 0 ? others.at(-unread)?.message_id : undefined
    messages.markRead(room)
    changed()
    while (!aborted.aborted) {
      try {
        const given = {
          api: connection.api,
          room,
          after: log.position,
          signal: aborted,
          connectivity: connection.connectivity,
        }
        for await (const polled of followRoom(given)) messages.take(room, log, polled)
      } catch (error) {
        if (!aborted.aborted) await connection.recover(error)
      }
    }
  }

  /** Opens a room: its messages are loaded, marked as read and followed. */
  function open(room: number): void {
    if (state.current === room) return
    following.abort()
    const mine = (following = new AbortController())
    Object.assign(state, { current: room, typing: [], newFrom: undefined })
    const work = follow(room, mine.signal).catch((error: unknown) => {
      if (!mine.signal.aborted) rooms.unlessGone(room)(error)
    })
    background(work)
    changed()
  }

  return {
    open,
    openFirst(): void {
      following.abort()
      if (state.rooms[0]) open(state.rooms[0].room_id)
    },
    close: () => following.abort(),
  }
}

/** Background work; `failure` rejects with its first error. */
function makeBackground(signal: AbortSignal) {
  let broken: (error: unknown) => void = () => undefined
  const failure = new Promise<never>((_, reject) => (broken = reject))
  failure.catch(() => undefined)
  const background = (work: Promise<unknown>): void =>
    void work.catch((error: unknown) => {
      if (!signal.aborted) broken(error)
    })
  return { failure, background }
}

function setConnectionError(state: ChatState, error: ChatState['connectionError'], changed: () => void): void {
  state.connectionError = error
  // Typing notifications may be outdated.
  if (error) state.typing = []
  changed()
}

async function loadState(state: ChatState, { api, persist }: Connection): Promise<void> {
  const [{ user }, { rooms }] = await persist(() =>
    Promise.all([api.call(syncAuth.actions.validate, {}, { repeatable: true }), api.call(actions.rooms, {})]),
  )
  state.rooms = rooms
  for (const { room_id, unread_count } of rooms) state.unread.set(room_id, unread_count)
  const self = rooms.flatMap(({ participants }) => participants).find(({ id }) => id === user.id)
  state.me = self ?? { ...user, avatar_color: '' }
}

interface Around {
  state: ChatState
  connection: Connection
  rooms: SessionRooms
  catchUp: (room: number) => Promise<void>
  isFocused: () => boolean
  changed: () => void
}

/** Polls the other rooms and presence at each beat. */
async function pollInBackground(around: Around, beat: () => Promise<void>): Promise<never> {
  const { state, connection, rooms, isFocused, changed } = around
  const { api, persist } = connection
  const who = async (): Promise<void> => {
    const { users } = await persist(() => api.call(actions.online, {}))
    state.online = new Set(users.map(({ id }) => id))
    changed()
  }
  const present = async (): Promise<void> => {
    const room_id = state.current
    if (room_id === undefined || !isFocused()) return
    await persist(() => api.call(actions.presence, { room_id })).catch(rooms.unlessGone(room_id))
  }
  state.people = (await persist(() => api.call(actions.users, {}))).users
  await present()
  await who()
  for (let count = 1; ; count++) {
    await beat()
    await lookForUnread(around)
    if (count % ONLINE_BEATS === 0) await who()
    if (count % PRESENT_BEATS === 0) {
      await rooms.load()
      await present()
    }
  }
}

async function lookForUnread({ state, connection, rooms, catchUp, isFocused, changed }: Around): Promise<void> {
  const { rooms: counts } = await connection.persist(() => connection.api.call(actions.unread, {}))
  const known = new Set(state.rooms.map(({ room_id }) => room_id))
  if (counts.length !== known.size || counts.some(({ room_id }) => !known.has(room_id))) await rooms.load()
  for (const { room_id, unread } of counts) {
    const before = state.unread.get(room_id) ?? 0
    if (room_id === state.current && isFocused()) continue
    state.unread.set(room_id, unread)
    if (unread === 0) state.mentions.delete(room_id)
    if (unread > before && room_id !== state.current) await catchUp(room_id)
  }
  changed()
}
