import { effect, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { uuid } from '../../kit/rows.ts'
import { ApiError } from '../../kit/api-error.ts'
import { isTransient, type Message } from './store.ts'

export interface Pending {
  /** Idempotency key: the server stores a message once per id. */
  client_id: string
  room_id: number
  content: string
  reply_to: number | undefined
  /** When it was posted, ms since 1970. */
  posted: number
  state: 'sending' | 'waiting' | 'failed'
  /** With `waiting` and `failed`. */
  error?: unknown
  /** Whether it is probably in the room already, although its response is pending. */
  isArrived?: boolean
}

/** Longest message, bytes. */
export const MAX_BYTES = 16_384
/** Delay before a retry, ms. */
const RETRY_DELAY = 3_000

export const pending = signal<readonly Pending[]>([])

let onSent: (message: Message) => void = () => undefined
let isRunning = false
let timer: ReturnType<typeof setTimeout> | undefined

const PREFIX = 'message:'

function setPending(next: readonly Pending[]): void {
  const left = pending.value.filter(({ client_id }) => !next.some((one) => one.client_id === client_id))
  for (const { client_id } of left) void bridge.keepDraft(`${PREFIX}${client_id}`, null)
  pending.value = next
}

const store = ({ client_id, room_id, content, reply_to, posted }: Pending): Promise<void> =>
  bridge.keepDraft(`${PREFIX}${client_id}`, JSON.stringify({ client_id, room_id, content, reply_to, posted }))

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

/** Sends messages one at a time, so that they keep their order. */
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
  const message: Pending = { client_id: uuid(), room_id, content, reply_to, posted: Date.now(), state: 'sending' }
  void store(message)
  setPending([...pending.value, message])
  void run()
}

/** Retries now. */
export function retry(client_id: string): void {
  mark(client_id, 'sending')
  void run()
}

export const discard = (client_id: string): void => setPending(without(client_id))

/** The user's own message arrived by polling: a pending one with the same text is probably that one. */
export function markArrived({ room_id, content }: Message): void {
  const found = pending.value.find(
    (one) => one.state === 'sending' && !one.isArrived && one.room_id === room_id && one.content === content,
  )
  if (found) pending.value = pending.value.map((one) => (one === found ? { ...one, isArrived: true } : one))
}

/** Sends messages that an earlier page could not send; `sent` is called for each stored message. */
export async function startOutbox(sent: (message: Message) => void): Promise<void> {
  onSent = sent
  effect(() => {
    if (bridge.online.value) void run()
  })
  const texts = [...(await bridge.restoreDrafts(PREFIX)).values()]
  const isPending = (id: string): boolean => pending.value.some(({ client_id }) => client_id === id)
  const stored = texts
    .map((text): Pending => ({ ...(JSON.parse(text) as Omit<Pending, 'state'>), state: 'waiting' }))
    .filter(({ client_id }) => !isPending(client_id))
    .sort((a, b) => a.posted - b.posted)
  setPending([...stored, ...pending.value])
  void run()
}
