import { signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import type { Message } from './store.ts'

export interface ComposerState {
  text: string
  replyTo: Message | undefined
  editing: Message | undefined
  /** The draft before editing of a message began. */
  savedText: string
}

const empty: ComposerState = { text: '', replyTo: undefined, editing: undefined, savedText: '' }

/** By room; drafts survive a reload. */
const composers = signal<ReadonlyMap<number, ComposerState>>(new Map())

export const composerOf = (room: number): ComposerState => composers.value.get(room) ?? empty

export const focusRequests = signal(0)

export function updateComposer(room: number, change: Partial<ComposerState>): void {
  const next = { ...composerOf(room), ...change }
  composers.value = new Map(composers.value).set(room, next)
  // The edited text of a sent message is not a draft.
  if (!next.editing) bridge.setItem(`draft-${room}`, next.text === '' ? null : next.text)
}

export async function restore(room: number): Promise<void> {
  if (composers.value.has(room)) return
  const text = await bridge.getItem(`draft-${room}`)
  if (text !== null && !composers.value.has(room)) updateComposer(room, { text })
}

/** Adds a link to what is written in a room; while a sent message is edited, to the draft that it interrupted. */
export function appendLink(room: number, link: string): void {
  const { editing, text, savedText } = composerOf(room)
  updateComposer(room, editing ? { savedText: savedText + link } : { text: text + link })
}

export function reply(message: Message): void {
  updateComposer(message.room_id, { replyTo: message, editing: undefined })
  focusRequests.value++
}

export function edit(message: Message): void {
  const { editing, text, savedText } = composerOf(message.room_id)
  const now = { editing: message, replyTo: undefined, text: message.content }
  updateComposer(message.room_id, { ...now, savedText: editing ? savedText : text })
  focusRequests.value++
}

/** Cancels replying or editing. */
export function stop(room: number): void {
  const { editing, text, savedText } = composerOf(room)
  updateComposer(room, { replyTo: undefined, editing: undefined, text: editing ? savedText : text, savedText: '' })
}
