import { batch, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { ApiError } from '../../kit/api-error.ts'
import { onChange, refresh } from './folder.ts'
import { freeName, join, nameOf, parentOf } from './paths.ts'

/** What a file holds. */
interface FileContents {
  content: string
  sha256: string
}

/** Texts that were written and not saved, by path, over a reload. */
type StoredDrafts = Record<string, { base: string; content: string }>

const DRAFTS = 'texts'

async function loadDrafts(): Promise<StoredDrafts> {
  const text = await bridge.getItem(DRAFTS)
  return text === null ? {} : (JSON.parse(text) as StoredDrafts)
}

async function storeDraft(path: string, draft: StoredDrafts[string] | undefined): Promise<void> {
  const { [path]: _, ...others } = await loadDrafts()
  const all = draft ? { ...others, [path]: draft } : others
  bridge.setItem(DRAFTS, Object.keys(all).length > 0 ? JSON.stringify(all) : null)
}

/** Stores a text under a free name beside a path and answers where. */
async function saveCopy(path: string, content: string): Promise<string> {
  const { items } = await bridge.call('filesystem.list', { path: parentOf(path) })
  const names = items.map(({ name }) => name)
  const copy = join(parentOf(path), freeName(nameOf(path), names))
  await bridge.call('filesystem.write', { path: copy, content, if_absent: true })
  refresh()
  return copy
}

/** What the file at a path holds; null when there is none. */
const read = (path: string) =>
  bridge.call('filesystem.read', { path }).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'not_found') return null
    throw error
  })

const makeState = () => ({
  /** What is written, undefined until it is there. */
  content: signal<string | undefined>(undefined),
  /** Hash of what it is written on. */
  base: signal(''),
  /** Why it is not there. */
  loadError: signal<unknown>(undefined),
  saveError: signal<unknown>(undefined),
  isDirty: signal(false),
  isSaving: signal(false),
  /** What the file holds by now, where that is not what is written on; null when it is gone. */
  theirs: signal<FileContents | null | undefined>(undefined),
})

type State = ReturnType<typeof makeState>

/** Notes whether something is written that is not saved, and keeps it in the browser. */
function setDirty(path: string, { content, base, isDirty }: State, dirty: boolean): void {
  isDirty.value = dirty
  bridge.setUnsaved(dirty)
  const text = content.peek()
  void storeDraft(path, dirty && text !== undefined ? { base: base.peek(), content: text } : undefined)
}

/** Shows what the file holds, and forgets what was written over something else. */
function showContents(path: string, state: State, present: FileContents): void {
  batch(() => {
    state.base.value = present.sha256
    state.content.value = present.content
    state.theirs.value = undefined
    setDirty(path, state, false)
  })
}

/** Shows the file, or what was written into it before and not saved. */
async function load(path: string, state: State): Promise<void> {
  state.loadError.value = undefined
  try {
    const [present, drafts] = await Promise.all([read(path), loadDrafts()])
    const draft = drafts[path]
    if (present && (!draft || draft.content === present.content)) return showContents(path, state, present)
    if (!draft) throw new ApiError({ code: 'not_found', message: '' })
    batch(() => {
      state.content.value = draft.content
      state.base.value = draft.base
      setDirty(path, state, true)
      if (draft.base !== present?.sha256) state.theirs.value = present
    })
  } catch (error) {
    state.loadError.value = error
  }
}

/** Looks whether the file is another one by now: shows it, or where something is written, says so. */
async function checkRemote(path: string, state: State): Promise<void> {
  const { content, base, isDirty, isSaving, theirs } = state
  if (content.peek() === undefined || isSaving.peek()) return
  const present = await read(path).catch(() => undefined)
  if (present === undefined || isSaving.peek() || present?.sha256 === base.peek()) return
  if (present && (!isDirty.peek() || present.content === content.peek())) showContents(path, state, present)
  else theirs.value = present
}

type Precondition = { if_sha256: string } | { if_absent: true }

/** Saves, or finds out what is there instead of what was expected. */
async function saveFile(path: string, state: State, precondition: Precondition): Promise<void> {
  const { content, base, saveError, isSaving, theirs } = state
  const text = content.peek()
  if (text === undefined || isSaving.peek()) return
  isSaving.value = true
  saveError.value = undefined
  try {
    const { sha256 } = await bridge.call('filesystem.write', { path, content: text, ...precondition })
    base.value = sha256
    theirs.value = undefined
    setDirty(path, state, content.peek() !== text)
    refresh()
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'precondition_failed')) saveError.value = error
    else
      await read(path).then(
        (present) => (theirs.value = present),
        (reason: unknown) => (saveError.value = reason),
      )
  } finally {
    isSaving.value = false
  }
}

/** A text file while it is open: what is written is saved only over the content it was written on. */
export function openText(path: string) {
  const state = makeState()
  const { content, base, theirs } = state
  let isClosed = false
  const stop = onChange(() => void checkRemote(path, state))
  void load(path, state)
  return {
    ...state,
    load: () => load(path, state),
    write(text: string): void {
      if (isClosed) return
      content.value = text
      setDirty(path, state, true)
    },
    save: () => saveFile(path, state, { if_sha256: base.peek() }),
    /** What is written here becomes the file; what it held stays among its versions. */
    overwrite: () => {
      const other = theirs.peek()
      return saveFile(path, state, other ? { if_sha256: other.sha256 } : { if_absent: true })
    },
    /** Forgets what is written here. */
    takeTheirs(): void {
      const other = theirs.peek()
      if (other) showContents(path, state, other)
    },
    /** Saves what is written here beside the file and answers where. */
    async saveAsCopy(): Promise<string> {
      const copy = await saveCopy(path, content.peek() ?? '')
      const other = theirs.peek()
      if (other) showContents(path, state, other)
      else setDirty(path, state, false)
      return copy
    },
    close(): void {
      isClosed = true
      stop()
      bridge.setUnsaved(false)
    },
  }
}

export type TextFile = ReturnType<typeof openText>
