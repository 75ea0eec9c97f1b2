import { signal } from '@preact/signals'
import { ARCHIVE } from '../../../contract/limits.ts'
import { bridge } from '../../kit/bridge.ts'
import { toast, toastError } from '../../kit/toast.tsx'
import { ApiError } from '../../kit/api-error.ts'
import { askAboutName, type Choice } from './name-conflict.tsx'
import { all, folder, pathOf, refresh, type Item } from './folder.ts'
import { freeName, isFixed, isWithin, join, nameOf, parentOf } from './paths.ts'
import { selectNames } from './selection.ts'
import { words } from './words.ts'

const isNameTaken = (error: unknown): boolean => error instanceof ApiError && error.code === 'exists'

/** Runs an action and shows its error. Returns whether it succeeded. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    toastError(error)
    return false
  } finally {
    refresh()
  }
}

async function namesIn(path: string): Promise<string[]> {
  if (path === folder.peek()) return all.peek().map(({ name }) => name)
  return (await bridge.call('filesystem.list', { path })).items.map(({ name }) => name)
}

/** Path of a name in the open folder. Throws if it contains a slash. */
function placeOf(name: string): string {
  if (name.includes('/')) throw new ApiError({ code: 'bad_path', message: '' })
  return join(folder.peek(), name)
}

export async function makeFolder(name: string): Promise<void> {
  await bridge.call('filesystem.mkdir', { path: placeOf(name) })
  refresh()
  selectNames([name])
}

/** Creates an empty file; an existing one is not changed. */
export async function makeFile(name: string): Promise<void> {
  await bridge.call('filesystem.write', { path: placeOf(name), content: '', if_absent: true })
  refresh()
  selectNames([name])
}

export async function rename(item: Item, name: string): Promise<void> {
  if (name === item.name) return
  await bridge.call('filesystem.move', { from: pathOf(item), to: placeOf(name) })
  refresh()
  selectNames([name])
}

/** Moves items to the trash; a toast offers to undo it. */
export async function remove(items: readonly Item[]): Promise<void> {
  const paths = items.map(pathOf)
  const before = new Set((await bridge.call('trash.list', {})).items.map(({ id }) => id))
  const gone: string[] = []
  await attempt(async () => {
    for (const path of paths) {
      await bridge.call('filesystem.trash', { path })
      gone.push(path)
    }
  })
  if (gone.length === 0) return
  const undo = () =>
    void attempt(async () => {
      const { items: entries } = await bridge.call('trash.list', {})
      for (const path of gone) {
        const entry = entries.find((one) => one.path === path && !before.has(one.id))
        if (entry) await bridge.call('trash.restore', { id: entry.id })
      }
      selectNames(gone.map(nameOf))
    })
  toast(gone.length === 1 ? words('deleted', nameOf(gone[0]!)) : words('deleted_many', gone.length), {
    action: { label: words('undo'), run: undo },
  })
}

type TransferAction = 'filesystem.move' | 'filesystem.copy'

interface Transferred {
  from: string
  to: string
  /** ID of the replaced item in the trash. */
  replaced?: number | undefined
}

const restoreReplaced = (id: number | undefined): Promise<unknown> =>
  id === undefined ? Promise.resolve() : bridge.call('trash.restore', { id })

/** Moves the item at `to` to the trash and puts another in its place. If that fails, it is restored. */
async function replaceOne(action: TransferAction, from: string, to: string): Promise<Transferred> {
  await bridge.call('filesystem.trash', { path: to })
  // The newest entry comes first.
  const replaced = (await bridge.call('trash.list', {})).items.find(({ path }) => path === to)?.id
  try {
    await bridge.call(action, { from, to })
  } catch (error) {
    await restoreReplaced(replaced).catch(() => undefined)
    throw error
  }
  return { from, to, replaced }
}

/** Moves or copies one item; asks if the name is taken. Undefined if skipped. */
async function transferOne(
  action: TransferAction,
  from: string,
  to: string,
  decide: (path: string) => Promise<Choice>,
): Promise<Transferred | undefined> {
  try {
    await bridge.call(action, { from, to })
    return { from, to }
  } catch (error) {
    if (!isNameTaken(error)) throw error
  }
  const choice = await decide(to)
  if (choice === 'skip') return undefined
  if (choice === 'replace') return replaceOne(action, from, to)
  const free = join(parentOf(to), freeName(nameOf(to), await namesIn(parentOf(to))))
  await bridge.call(action, { from, to: free })
  return { from, to: free }
}

/** Asks about a taken path, unless the answer was given for all. What contains one of the items cannot be replaced. */
function makeConflictPrompt(items: readonly string[]): (path: string) => Promise<Choice> {
  let decided: Choice | undefined
  return async (path) => {
    const replaceable = !items.some((item) => isWithin(item, path))
    if (decided && (replaceable || decided !== 'replace')) return decided
    const { choice, forAll } = await askAboutName({ name: nameOf(path), many: items.length > 1, replaceable })
    if (forAll) decided = choice
    return choice
  }
}

/** Moves or copies items into a folder. Moves can be undone. */
export async function transfer(mode: 'move' | 'copy', paths: readonly string[], target: string): Promise<void> {
  const wanted = paths.filter((path) => mode === 'copy' || parentOf(path) !== target)
  if (wanted.some((path) => isWithin(target, path))) {
    toast(words('into_itself'), { tone: 'bad' })
    return
  }
  if (wanted.length === 0) return
  const decide = makeConflictPrompt(wanted)
  const done: Transferred[] = []
  await attempt(async () => {
    for (const from of wanted) {
      // A copy in the same folder gets a new name without asking.
      const isSameFolder = parentOf(from) === target
      const name = isSameFolder ? freeName(nameOf(from), await namesIn(target)) : nameOf(from)
      const transferred = await transferOne(`filesystem.${mode}`, from, join(target, name), decide)
      if (transferred) done.push(transferred)
    }
  })
  if (done.length === 0) return
  if (folder.peek() === target) selectNames(done.map(({ to }) => nameOf(to)))
  const undo = () =>
    void attempt(async () => {
      for (const { from, to, replaced } of done.toReversed()) {
        await bridge.call('filesystem.move', { from: to, to: from })
        await restoreReplaced(replaced)
      }
    })
  const message = words(mode === 'move' ? 'moved' : 'copied', done.length, nameOf(target) || words('my_files'))
  toast(message, mode === 'move' ? { action: { label: words('undo'), run: undo } } : {})
}

/** Items that were cut or copied. */
export const clipboard = signal<{ mode: 'move' | 'copy'; paths: readonly string[] } | undefined>(undefined)

export async function paste(): Promise<void> {
  const clipped = clipboard.peek()
  if (!clipped) return
  if (clipped.mode === 'move') clipboard.value = undefined
  await transfer(clipped.mode, clipped.paths, folder.peek())
}

/** Downloads a file as it is, a folder or several items as an archive. IDs of selected items must fit into a URL. */
export function download(items: readonly Item[]): void {
  const [item] = items
  if (!item) return
  if (items.length === 1)
    bridge.download(item.type === 'file' ? 'filesystem.download' : 'filesystem.archive', { path: pathOf(item) })
  else if (items.length <= ARCHIVE.max_chosen)
    bridge.download('filesystem.archive', { path: folder.peek(), ids: items.map(({ id }) => id).join('.') })
  else if (items.length === all.peek().length) downloadFolder()
  else toast(words('too_many_chosen', ARCHIVE.max_chosen), { tone: 'bad' })
}

export function downloadFolder(): void {
  bridge.download('filesystem.archive', { path: folder.peek() })
}

/** Whether an item may be renamed, moved and deleted. */
export const isChangeable = (item: Item): boolean => !isFixed(pathOf(item))
