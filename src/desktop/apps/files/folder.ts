import { computed, effect, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { compareNames } from '../../kit/formats.ts'
import { ApiError } from '../../kit/api-error.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { isWithin, join, nameOf, parentOf, ROOMS, trimSlashes } from './paths.ts'

export type Item = AnswerOf<'filesystem.list'>['items'][number]
export type SortKey = 'name' | 'size' | 'modified'

export const place = signal<'folder' | 'photos' | 'trash'>('folder')
/** Path of the open folder. */
export const folder = signal('/')
export const searchText = signal('')
export const sorting = signal<{ key: SortKey; isDescending: boolean }>({ key: 'name', isDescending: false })
export const view = signal<'list' | 'grid'>('list')

const listing = signal<{ path: string; items: readonly Item[] } | undefined>(undefined)
export const loadError = signal<unknown>(undefined)
export const isLoading = computed(() => listing.value?.path !== folder.value && loadError.value === undefined)

/** All items of the folder, unordered. */
export const all = computed<readonly Item[]>(() => (listing.value?.path === folder.value ? listing.value.items : []))

export const usage = signal<AnswerOf<'filesystem.quota'> | undefined>(undefined)

const comparers: Record<SortKey, (a: Item, b: Item) => number> = {
  name: () => 0,
  size: (a, b) => (a.size ?? 0) - (b.size ?? 0),
  modified: (a, b) => (a.modified < b.modified ? -1 : a.modified > b.modified ? 1 : 0),
}

export const items = computed<readonly Item[]>(() => {
  const words = searchText.value.toLowerCase().split(/\s+/).filter(Boolean)
  const { key, isDescending } = sorting.value
  const compare = comparers[key]
  const direction = isDescending ? -1 : 1
  return all.value
    .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .toSorted(
      (a, b) =>
        Number(b.type === 'directory') - Number(a.type === 'directory') ||
        direction * (compare(a, b) || compareNames(a.name, b.name)),
    )
})

export const pathOf = ({ name }: Pick<Item, 'name'>): string => join(folder.peek(), name)

let lastRequest = 0

/** Reloads the folder; its items stay visible meanwhile. */
export async function load(): Promise<void> {
  const path = folder.peek()
  const number = ++lastRequest
  try {
    const answer = await bridge.call('filesystem.list', { path, ids: true })
    if (number !== lastRequest) return
    listing.value = { path, items: answer.items }
    loadError.value = undefined
  } catch (error) {
    if (number !== lastRequest) return
    // While the server is unreachable, keep showing the last state.
    if (error instanceof ApiError && error.code === 'unreachable' && listing.peek()?.path === path) return
    listing.value = undefined
    loadError.value = error
  }
}

async function loadUsage(): Promise<void> {
  usage.value = await bridge.call('filesystem.quota', {}).catch(() => usage.peek())
}

export function openFolder(path: string): void {
  place.value = 'folder'
  searchText.value = ''
  loadError.value = undefined
  folder.value = trimSlashes(path)
  void load()
}

/** Delay in which changes are collected before the folder is reloaded, ms: a sync client makes many. */
const REFRESH_DELAY = 250
/** Interval of reloading a room's folder, ms: the feed does not contain it. */
const ROOM_INTERVAL = 20_000

const listeners = new Set<() => void>()

/** Subscribes to file changes of this window and others; returns a function that unsubscribes. */
export function onChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

let timer: ReturnType<typeof setTimeout> | undefined

/** Reloads everything visible after a short delay. */
export function refresh(): void {
  timer ??= setTimeout(() => {
    timer = undefined
    void load()
    void loadUsage()
    for (const listener of listeners) listener()
  }, REFRESH_DELAY)
}

export async function openPath(path: string, openFile: (item: Item) => void): Promise<void> {
  openFolder(path)
  await load()
  if (path === '/' || !(loadError.peek() instanceof ApiError) || folder.peek() !== trimSlashes(path)) return
  const { items: siblings } = await bridge.call('filesystem.list', { path: parentOf(trimSlashes(path)) })
  const item = siblings.find(({ name }) => name === nameOf(trimSlashes(path)))
  if (!item) return
  openFolder(parentOf(trimSlashes(path)))
  openFile(item)
}

/** Subscribes to changes. */
export function startListening(): void {
  bridge.watch(['svc_files'], refresh)
  void loadUsage()
  setInterval(() => {
    if (document.visibilityState === 'visible' && isWithin(folder.peek(), ROOMS)) void load()
  }, ROOM_INTERVAL)
  effect(() => {
    if (bridge.online.value && loadError.peek() !== undefined) void load()
  })
}
