import { effect, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { uuid } from '../../kit/rows.ts'
import { ApiError } from '../../kit/api-error.ts'
import { isTransient, type Message } from './store.ts'

/** An own message that the server does not have yet. */
export interface Pending {
  /** The server takes a message with the same one once, however often it is sent. */
  client_id: string
  room_id: number
  content: string
  reply_to: number | undefined
  state: 'sending' | 'waiting' | 'failed'
  /** Why it did not go through. */
  error?: unknown
  /** Whether it is most likely among the messages of the room already, while the answer is still on its way. */
  isArrived?: boolean
}

/** Most bytes of a message. */
export const MAX_BYTES = 16_384
/** Milliseconds until what did not go through is tried again. */
const RETRY_DELAY = 3_000

export const pending = signal<readonly Pending[]>([])

let onSent: (message: Message) => void = () => undefined
let isRunning = false
let timer: ReturnType<typeof setTimeout> | undefined

function setPending(next: readonly Pending[]): void {
  pending.value = next
  const stored = next.map(({ client_id, room_id, content, reply_to }) => ({ client_id, room_id, content, reply_to }))
  bridge.setItem('outbox', stored.length > 0 ? JSON.stringify(stored) : null)
}

const without = (client_id: string): Pending[] => pending.value.filter((one) => one.client_id !== client_id)

function mark(client_id: string, state: Pending['state'], error?: unknown): void {
  setPending(
    pending.value.map((one) => (one.client_id === client_id ? { ...one, state, error, isArrived: false } : one)),
  )
}

async function deliver({ client_id, room_id, content, reply_to }: Pending): Promise<boolean> {
  mark(client_id, 'sending')
  const reply = reply_to === undefined ? {} : { reply_to }
  try {
    const { message } = await bridge.call('teamChat.send', { room_id, content, client_id, ...reply })
    onSent(message)
    setPending(without(client_id))
    return true
  } catch (error) {
    mark(client_id, isTransient(error) ? 'waiting' : 'failed', error)
    if (!isTransient(error)) return true
    clearTimeout(timer)
    const retry = error instanceof ApiError ? (error.retryAfter ?? 0) : 0
    timer = setTimeout(() => void run(), Math.max(RETRY_DELAY, retry * 1_000))
    return false
  }
}

/** Sends what waits, one after the other, so that it arrives in the order it was written in. */
async function run(): Promise<void> {
  if (isRunning) return
  isRunning = true
  try {
    for (;;) {
      const next = pending.value.find(({ state }) => state !== 'failed')
      if (!next || !(await deliver(next))) return
    }
  } finally {
    isRunning = false
  }
}

export function post(room_id: number, content: string, reply_to: number | undefined): void {
  setPending([...pending.value, { client_id: uuid(), room_id, content, reply_to, state: 'sending' }])
  void run()
}

/** Tries again at once. */
export function retry(client_id: string): void {
  mark(client_id, 'sending')
  void run()
}

export const discard = (client_id: string): void => setPending(without(client_id))

/** An own message came in by another way: what is on its way with the same words is most likely that one. */
export function markArrived({ room_id, content }: Message): void {
  const found = pending.value.find(
    (one) => one.state === 'sending' && !one.isArrived && one.room_id === room_id && one.content === content,
  )
  if (found) pending.value = pending.value.map((one) => (one === found ? { ...one, isArrived: true } : one))
}

/** Takes up what an earlier page could not send; `sent` hears of each message that the server took. */
export async function startOutbox(sent: (message: Message) => void): Promise<void> {
  onSent = sent
  effect(() => {
    if (bridge.online.value) void run()
  })
  const text = await bridge.getItem('outbox')
  const stored = text === null ? [] : (JSON.parse(text) as Pending[])
  setPending([...stored.map((one) => ({ ...one, state: 'waiting' as const })), ...pending.value])
  void run()
}
