import { computed, effect, signal, type Signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { ApiError } from '../../kit/api-error.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { turnsOf, type Turn } from './turns.ts'

export type Conversation = AnswerOf<'assistant.conversations'>['conversations'][number]
export type Model = AnswerOf<'assistant.models'>['models'][number]

export interface Thread {
  key: string
  /** Undefined until the first answer of a new conversation. */
  id: Signal<number | undefined>
  turns: Signal<readonly Turn[]>
  /** Aborts the answer in progress. */
  running: Signal<AbortController | undefined>
  isLoaded: Signal<boolean>
  loadError: Signal<unknown>
  /** Text in the composer. */
  draft: Signal<string>
  /** A question without an answer, stored with the draft so that it is not lost. */
  unanswered: string
}

/** Conversations of the server, most recently used first. */
export const conversations = signal<readonly Conversation[] | undefined>(undefined)
export const listError = signal<unknown>(undefined)
/** Configured models; undefined until loaded. */
export const models = signal<readonly Model[] | undefined>(undefined)
/** The selected model; undefined for the default. */
export const chosenModel = signal<string | undefined>(undefined)

const threads = signal<readonly Thread[]>([])
let count = 0

function makeThread(id: number | undefined): Thread {
  const thread: Thread = {
    key: `thread-${++count}`,
    id: signal(id),
    turns: signal([]),
    running: signal(undefined),
    isLoaded: signal(id === undefined),
    loadError: signal(undefined),
    draft: signal(''),
    unanswered: '',
  }
  threads.value = [...threads.value, thread]
  // The stored draft of new conversations is of an earlier page: only the first one restores it.
  if (id === undefined && threads.value.length > 1) return thread
  void bridge.getItem(draftKey(thread)).then((text) => {
    if (text !== null && thread.draft.value === '' && thread.unanswered === '') thread.draft.value = text
  })
  return thread
}

const draftKey = ({ id }: Thread): string => `draft-${id.value ?? 'new'}`

const unsent = ({ draft, unanswered }: Thread): string => (draft.value === '' ? unanswered : draft.value)

/** Stores the draft of a conversation. New conversations have no id yet and share one item. */
function saveDraft(thread: Thread): void {
  const sharing = threads.value.filter((one) => one === thread || draftKey(one) === draftKey(thread))
  const text = sharing
    .map(unsent)
    .filter((each) => each !== '')
    .join('\n\n')
  bridge.setItem(draftKey(thread), text === '' ? null : text)
}

export function write(thread: Thread, text: string): void {
  thread.draft.value = text
  saveDraft(thread)
}

export function setUnanswered(thread: Thread, text: string): void {
  thread.unanswered = text
  saveDraft(thread)
}

/** Sets the id; undefined if the conversation was deleted on the server. */
export function setId(thread: Thread, id: number | undefined): void {
  if (thread.id.value === id) return
  const before = draftKey(thread)
  thread.id.value = id
  // Store under the new key first: other new conversations may use the old one.
  saveDraft(thread)
  const other = threads.value.find((one) => draftKey(one) === before)
  if (other) saveDraft(other)
  else bridge.setItem(before, null)
}

/** The open conversation. */
export const current = signal<Thread>(makeThread(undefined))

/** Conversations without an id: their first answer is in progress or failed. */
export const unsavedThreads = computed(() =>
  threads.value.filter(({ id, turns }) => id.value === undefined && turns.value.length > 0),
)

export const composerFocusRequests = signal(0)
export const focusComposer = (): void => void composerFocusRequests.value++

export const droppedFiles = signal<readonly File[]>([])

/** On narrow screens: whether the list is shown instead of the conversation. */
export const showsList = signal(false)

/** Title of the server, or else the first question. */
export function titleOf({ id, turns }: Thread): string {
  const known = conversations.value?.find(({ conversation_id }) => conversation_id === id.value)
  return known?.title ?? turns.value[0]?.text.slice(0, 80) ?? ''
}

const isRunningAt = (id: number): boolean =>
  threads.value.some((thread) => thread.id.value === id && thread.running.value !== undefined)
export const isRunning = (id: number | undefined): boolean => id !== undefined && isRunningAt(id)

/** Loads the messages of a conversation. */
export async function load(thread: Thread): Promise<void> {
  const id = thread.id.value
  if (id === undefined) return
  thread.loadError.value = undefined
  try {
    const { messages } = await bridge.call('assistant.messages', { conversation_id: id })
    if (thread.running.value) return
    thread.turns.value = turnsOf(messages)
    thread.isLoaded.value = true
  } catch (error) {
    thread.loadError.value = error
  }
}

export function show(thread: Thread): void {
  current.value = thread
  showsList.value = false
}

/** Opens a conversation of the server. */
export function open(id: number): void {
  const known = threads.value.find((thread) => thread.id.value === id)
  if (known) return show(known)
  const thread = makeThread(id)
  void load(thread)
  show(thread)
}

/** Opens the empty new conversation, or creates one. */
export function newConversation(): void {
  const empty = threads.value.find(({ id, turns }) => id.value === undefined && turns.value.length === 0)
  show(empty ?? makeThread(undefined))
}

export async function loadList(): Promise<void> {
  try {
    conversations.value = (await bridge.call('assistant.conversations', { limit: 500 })).conversations
    listError.value = undefined
  } catch (error) {
    listError.value = error
  }
}

export async function loadModels(): Promise<void> {
  try {
    models.value = (await bridge.call('assistant.models', {})).models
  } catch {
    // The next question will report the error.
  }
}

export async function remove(id: number): Promise<void> {
  await bridge.call('assistant.delete_conversation', { conversation_id: id }).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.code === 'not_found')) throw error
  })
  conversations.value = conversations.value?.filter(({ conversation_id }) => conversation_id !== id)
  const thread = threads.value.find((one) => one.id.value === id)
  if (!thread) return
  thread.running.value?.abort(new Error('The conversation was deleted.'))
  bridge.setItem(draftKey(thread), null)
  threads.value = threads.value.filter((one) => one !== thread)
  if (current.value === thread) newConversation()
}

export function chooseModel(id: string | undefined): void {
  chosenModel.value = id
  bridge.setItem('model', id ?? null)
}

/** Restores the last state, and keeps up with the server. */
export async function init(): Promise<void> {
  effect(() => {
    if (bridge.online.value) void loadList()
  })
  void loadModels()
  const model = await bridge.getItem('model')
  if (model !== null) chosenModel.value = model
  const last = Number(await bridge.getItem('current'))
  const isUntouched = current.value.id.value === undefined && current.value.turns.value.length === 0
  if (Number.isSafeInteger(last) && last > 0 && isUntouched) open(last)
  effect(() => bridge.setItem('current', current.value.id.value === undefined ? null : `${current.value.id.value}`))
  effect(() => bridge.setUnsaved(threads.value.some(({ running }) => running.value !== undefined)))
  // The feed does not contain conversations: reload when the window gets the focus.
  addEventListener('focus', () => void loadList())
}
