import { batch, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { ApiError } from '../../kit/api-error.ts'
import { onChange, refresh } from './folder.ts'
import { freeName, join, nameOf, parentOf } from './paths.ts'

interface FileContents {
  content: string
  sha256: string
}

/** An unsaved text; it survives a reload. */
interface StoredDraft {
  base: string
  content: string
}

const draftKey = (path: string): string => `text:${path}`

async function loadDraft(path: string): Promise<StoredDraft | undefined> {
  const key = draftKey(path)
  const text = (await bridge.restoreDrafts(key)).get(key)
  return text === undefined ? undefined : (JSON.parse(text) as StoredDraft)
}

const storeDraft = (path: string, draft: StoredDraft | undefined): Promise<void> =>
  bridge.keepDraft(draftKey(path), draft ? JSON.stringify(draft) : null)

/** Saves a text beside a file under an unused name; returns its path. */
async function saveCopy(path: string, content: string): Promise<string> {
  const { items } = await bridge.call('filesystem.list', { path: parentOf(path) })
  const names = items.map(({ name }) => name)
  const copy = join(parentOf(path), freeName(nameOf(path), names))
  await bridge.call('filesystem.write', { path: copy, content, if_absent: true })
  refresh()
  return copy
}

/** Reads a file; null if it does not exist. */
const read = (path: string) =>
  bridge.call('filesystem.read', { path }).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'not_found') return null
    throw error
  })

const makeState = () => ({
  /** The edited text; undefined until loaded. */
  content: signal<string | undefined>(undefined),
  /** Hash of the version that the text is based on. */
  base: signal(''),
  loadError: signal<unknown>(undefined),
  saveError: signal<unknown>(undefined),
  isDirty: signal(false),
  isSaving: signal(false),
  /** The current file if it conflicts with the draft; null if it was deleted. */
  theirs: signal<FileContents | null | undefined>(undefined),
})

type State = ReturnType<typeof makeState>

/** Records whether there are unsaved changes, and stores them. */
function setDirty(path: string, { content, base, isDirty }: State, dirty: boolean): void {
  isDirty.value = dirty
  bridge.setUnsaved(dirty)
  const text = content.peek()
  void storeDraft(path, dirty && text !== undefined ? { base: base.peek(), content: text } : undefined)
}

/** Shows the server's version and discards the draft. */
function showContents(path: string, state: State, present: FileContents): void {
  batch(() => {
    state.base.value = present.sha256
    state.content.value = present.content
    state.theirs.value = undefined
    setDirty(path, state, false)
  })
}

/** Loads the file, or restores its draft. */
async function load(path: string, state: State): Promise<void> {
  state.loadError.value = undefined
  try {
    const [present, draft] = await Promise.all([read(path), loadDraft(path)])
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

/** Checks whether the file changed on the server: shows the new version, or a conflict if there is a draft. */
async function checkRemote(path: string, state: State): Promise<void> {
  const { content, base, isDirty, isSaving, theirs } = state
  if (content.peek() === undefined || isSaving.peek()) return
  const present = await read(path).catch(() => undefined)
  if (present === undefined || isSaving.peek() || present?.sha256 === base.peek()) return
  if (present && (!isDirty.peek() || present.content === content.peek())) showContents(path, state, present)
  else theirs.value = present
}

type Precondition = { if_sha256: string } | { if_absent: true }

/** Saves the text; loads the conflicting version if the precondition fails. */
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

/** An open text file. Saving requires that the file was not changed since it was loaded. */
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
    /** Saves over the conflicting version, which stays in the file's history. */
    overwrite: () => {
      const other = theirs.peek()
      return saveFile(path, state, other ? { if_sha256: other.sha256 } : { if_absent: true })
    },
    /** Discards the draft. */
    takeTheirs(): void {
      const other = theirs.peek()
      if (other) showContents(path, state, other)
    },
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
