import { effect, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { uuid } from '../../kit/rows.ts'
import { Trouble } from '../../kit/trouble.ts'
import { isPassing, type Message } from './store.ts'

/** An own message that the server does not have yet. */
export interface Pending {
  /** The server takes a message with the same one once, however often it is sent. */
  client_id: string
  room_id: number
  content: string
  reply_to: number | undefined
  state: 'sending' | 'waiting' | 'failed'
  /** Why it did not go through. */
  trouble?: unknown
  /** Whether it is most likely among the messages of the room already, while the answer is still on its way. */
  isShown?: boolean
}

/** Most bytes of a message. */
export const MOST_BYTES = 16_384
/** Milliseconds until what did not go through is tried again. */
const AGAIN = 3_000

export const pending = signal<readonly Pending[]>([])

let told: (message: Message) => void = () => undefined
let isRunning = false
let timer: ReturnType<typeof setTimeout> | undefined

function set(next: readonly Pending[]): void {
  pending.value = next
  const kept = next.map(({ client_id, room_id, content, reply_to }) => ({ client_id, room_id, content, reply_to }))
  bridge.keep('outbox', kept.length > 0 ? JSON.stringify(kept) : null)
}

const without = (client_id: string): Pending[] => pending.value.filter((one) => one.client_id !== client_id)

function mark(client_id: string, state: Pending['state'], trouble?: unknown): void {
  set(pending.value.map((one) => (one.client_id === client_id ? { ...one, state, trouble, isShown: false } : one)))
}

async function deliver({ client_id, room_id, content, reply_to }: Pending): Promise<boolean> {
  mark(client_id, 'sending')
  const reply = reply_to === undefined ? {} : { reply_to }
  try {
    const { message } = await bridge.call('teamChat.send', { room_id, content, client_id, ...reply })
    told(message)
    set(without(client_id))
    return true
  } catch (error) {
    mark(client_id, isPassing(error) ? 'waiting' : 'failed', error)
    if (!isPassing(error)) return true
    clearTimeout(timer)
    const retry = error instanceof Trouble ? (error.retryAfter ?? 0) : 0
    timer = setTimeout(() => void run(), Math.max(AGAIN, retry * 1_000))
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
  set([...pending.value, { client_id: uuid(), room_id, content, reply_to, state: 'sending' }])
  void run()
}

/** Tries again at once. */
export function retry(client_id: string): void {
  mark(client_id, 'sending')
  void run()
}

export const discard = (client_id: string): void => set(without(client_id))

/** An own message came in by another way: what is on its way with the same words is most likely that one. */
export function arrived({ room_id, content }: Message): void {
  const found = pending.value.find(
    (one) => one.state === 'sending' && !one.isShown && one.room_id === room_id && one.content === content,
  )
  if (found) pending.value = pending.value.map((one) => (one === found ? { ...one, isShown: true } : one))
}

/** Takes up what an earlier page could not send; `sent` hears of each message that the server took. */
export async function beginSending(sent: (message: Message) => void): Promise<void> {
  told = sent
  effect(() => {
    if (bridge.online.value) void run()
  })
  const text = await bridge.kept('outbox')
  const kept = text === null ? [] : (JSON.parse(text) as Pending[])
  set([...kept.map((one) => ({ ...one, state: 'waiting' as const })), ...pending.value])
  void run()
}
