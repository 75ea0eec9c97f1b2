import { computed, effect, signal, type Signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { ApiError } from '../../kit/api-error.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { turnsOf, type Turn } from './turns.ts'

export type Conversation = AnswerOf<'assistant.conversations'>['conversations'][number]
export type Model = AnswerOf<'assistant.models'>['models'][number]

/** A conversation in this window. */
export interface Thread {
  key: string
  /** Its number on the server, which a new one gets with its first answer. */
  id: Signal<number | undefined>
  turns: Signal<readonly Turn[]>
  /** What ends the answer that is being made. */
  running: Signal<AbortController | undefined>
  isLoaded: Signal<boolean>
  /** Why its messages are not there. */
  loadError: Signal<unknown>
  /** What is being written. */
  draft: Signal<string>
  /** What was asked and has no answer yet: kept with the draft, so that nothing typed is lost. */
  unanswered: string
}

/** All conversations as the server has them, the one used last first. */
export const conversations = signal<readonly Conversation[] | undefined>(undefined)
export const listError = signal<unknown>(undefined)
/** Models that may be asked, none when none is set up; undefined before that is known. */
export const models = signal<readonly Model[] | undefined>(undefined)
/** The model that somebody chose; undefined for the standard one. */
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
  // What is kept of new conversations is from before this window, and the first takes it up: later it is what the others hold.
  if (id === undefined && threads.value.length > 1) return thread
  void bridge.getItem(draftKey(thread)).then((text) => {
    if (text !== null && thread.draft.value === '' && thread.unanswered === '') thread.draft.value = text
  })
  return thread
}

const draftKey = ({ id }: Thread): string => `draft-${id.value ?? 'new'}`

/** What is written, or else what was asked and has no answer yet. */
const unsent = ({ draft, unanswered }: Thread): string => (draft.value === '' ? unanswered : draft.value)

/** Keeps over a reload what a conversation holds; of new ones, which have no names yet, what all of them hold. */
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

/** Says which conversation of the server's a thread is: none any more when it was deleted elsewhere. */
export function setId(thread: Thread, id: number | undefined): void {
  if (thread.id.value === id) return
  const before = draftKey(thread)
  thread.id.value = id
  // Under its new name before the old one goes, which other new conversations may have too.
  saveDraft(thread)
  const other = threads.value.find((one) => draftKey(one) === before)
  if (other) saveDraft(other)
  else bridge.setItem(before, null)
}

/** The conversation that is shown. */
export const current = signal<Thread>(makeThread(undefined))

/** Conversations whose first answer is being made, or failed: the server does not have them yet. */
export const unsavedThreads = computed(() =>
  threads.value.filter(({ id, turns }) => id.value === undefined && turns.value.length > 0),
)

/** Raised when the cursor should go where one writes. */
export const composerFocusRequests = signal(0)
export const focusComposer = (): void => void composerFocusRequests.value++

/** Files that were dropped, for the composer to take. */
export const droppedFiles = signal<readonly File[]>([])

/** Where there is no room for both: whether the list is shown and not the conversation. */
export const showsList = signal(false)

/** What a conversation is called: as the server says, else by its first question. */
export function titleOf({ id, turns }: Thread): string {
  const known = conversations.value?.find(({ conversation_id }) => conversation_id === id.value)
  return known?.title ?? turns.value[0]?.text.slice(0, 80) ?? ''
}

const isRunningAt = (id: number): boolean =>
  threads.value.some((thread) => thread.id.value === id && thread.running.value !== undefined)
export const isRunning = (id: number | undefined): boolean => id !== undefined && isRunningAt(id)

/** Reads the messages of a conversation. */
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

/** Shows a conversation of the server's. */
export function open(id: number): void {
  const known = threads.value.find((thread) => thread.id.value === id)
  if (known) return show(known)
  const thread = makeThread(id)
  void load(thread)
  show(thread)
}

/** Begins a conversation, or goes back to the one that was begun and has nothing in it. */
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
    // Asking tells what is the matter.
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

/** Takes up what was shown before, and keeps in step with the server from now on. */
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
  // Nothing tells of what was asked elsewhere: it is looked for when somebody comes back.
  addEventListener('focus', () => void loadList())
}
