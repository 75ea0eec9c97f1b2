import { signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import type { Message } from './store.ts'

/** What is being written in a room. */
export interface Composing {
  text: string
  replyTo: Message | undefined
  editing: Message | undefined
  /** What was being written before an earlier message was changed. */
  before: string
}

const empty: Composing = { text: '', replyTo: undefined, editing: undefined, before: '' }

/** By room; the text is kept over a reload. */
const composings = signal<ReadonlyMap<number, Composing>>(new Map())

export const composingIn = (room: number): Composing => composings.value.get(room) ?? empty

/** Raised when the cursor should go where one writes. */
export const wanted = signal(0)

export function compose(room: number, change: Partial<Composing>): void {
  const next = { ...composingIn(room), ...change }
  composings.value = new Map(composings.value).set(room, next)
  // A change of an earlier message is no draft of a new one.
  if (!next.editing) bridge.keep(`draft-${room}`, next.text === '' ? null : next.text)
}

export async function restore(room: number): Promise<void> {
  if (composings.value.has(room)) return
  const text = await bridge.kept(`draft-${room}`)
  if (text !== null && !composings.value.has(room)) compose(room, { text })
}

export function reply(message: Message): void {
  compose(message.room_id, { replyTo: message, editing: undefined })
  wanted.value++
}

export function edit(message: Message): void {
  const { editing, text, before } = composingIn(message.room_id)
  const now = { editing: message, replyTo: undefined, text: message.content }
  compose(message.room_id, { ...now, before: editing ? before : text })
  wanted.value++
}

/** Stops replying or editing. */
export function stop(room: number): void {
  const { editing, text, before } = composingIn(room)
  compose(room, { replyTo: undefined, editing: undefined, text: editing ? before : text, before: '' })
}
