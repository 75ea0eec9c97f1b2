import { effect, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { ApiError } from '../../kit/api-error.ts'
import { askAboutName, type Choice } from './name-conflict.tsx'
import { refresh } from './folder.ts'
import { freeName, join } from './paths.ts'

type State = 'waiting' | 'sending' | 'asking' | 'done' | 'skipped' | 'failed'

export interface Upload {
  id: number
  /** Undefined for a folder that only has to be there. */
  file: File | undefined
  folder: string
  name: string
  sent: number
  state: State
  error: unknown
  batch: Batch
  /** What was decided about a taken name. */
  choice: Choice | undefined
  stop: AbortController | undefined
}

/** Files that were chosen together: what is decided for all is decided for these. */
interface Batch {
  decided: Choice | undefined
  size: number
}

/** Files on their way at the same time. */
const MAX_PARALLEL = 3

/** All uploads of this window, the oldest first; `news` changes with them. */
export const uploads: Upload[] = []
export const changes = signal(0)
let number = 0
/** Those whose turn comes, and how many have theirs: thousands are not gone through for each that is done. */
const waiting = new Set<Upload>()
let sending = 0
let isNotified = false

/** Tells of a change, at most once per picture of the screen: progress comes often. */
function notifyChange(): void {
  if (isNotified) return
  isNotified = true
  requestAnimationFrame(() => {
    isNotified = false
    changes.value++
    bridge.setUnsaved(uploads.some(({ state }) => state !== 'done' && state !== 'skipped'))
  })
}

export const sizeOf = ({ file }: Upload): number => file?.size ?? 0

const isTransient = (error: unknown): error is ApiError =>
  error instanceof ApiError && ['rate_limited', 'busy', 'maintenance'].includes(error.code)

/** What is not known to be there is asked about; only one question at a time stands for its batch. */
async function decide(upload: Upload, replaceable: boolean): Promise<Choice> {
  const { batch, name } = upload
  if (batch.decided && (replaceable || batch.decided !== 'replace')) return batch.decided
  const { choice, forAll } = await askAboutName({ name, many: batch.size > 1, replaceable })
  if (forAll) batch.decided = choice
  return choice
}

async function freeIn(path: string, name: string): Promise<string> {
  const { items } = await bridge.call('filesystem.list', { path })
  return freeName(
    name,
    items.map((item) => item.name),
  )
}

async function send(upload: Upload): Promise<void> {
  const { file, folder, choice } = upload
  if (!file) {
    await bridge.call('filesystem.mkdir', { path: join(folder, upload.name) })
    return
  }
  upload.stop = new AbortController()
  await bridge.call(
    'filesystem.upload',
    { path: folder, ...(choice === 'replace' ? {} : { if_absent: true }) },
    {
      body: file,
      name: upload.name,
      signal: upload.stop.signal,
      onProgress(sent) {
        upload.sent = Math.min(sent, file.size)
        notifyChange()
      },
    },
  )
  upload.sent = file.size
}

/** Somebody has to decide before this one goes on. */
async function resolveName(upload: Upload, code: string): Promise<void> {
  upload.state = 'asking'
  notifyChange()
  upload.choice = await decide(upload, code !== 'exists')
  if (upload.choice === 'both') upload.name = await freeIn(upload.folder, upload.name)
  if (upload.choice === 'skip') upload.state = 'skipped'
  else queue(upload)
}

async function run(upload: Upload): Promise<void> {
  upload.state = 'sending'
  upload.sent = 0
  notifyChange()
  sending += 1
  try {
    await send(upload).finally(() => (sending -= 1))
    upload.state = 'done'
  } catch (error) {
    if (upload.stop?.signal.aborted) upload.state = 'skipped'
    else if (error instanceof ApiError && ['precondition_failed', 'exists'].includes(error.code)) {
      await resolveName(upload, error.code).catch((reason: unknown) => fail(upload, reason))
    } else fail(upload, error)
  }
  notifyChange()
  refresh()
  advance()
}

function fail(upload: Upload, error: unknown): void {
  upload.state = 'failed'
  upload.error = error
  if (isTransient(error)) setTimeout(() => retry(upload), 1_000 * Math.max(1, error.retryAfter ?? 2))
}

/** Sends what waits, as far as there are lanes. */
function advance(): void {
  for (const upload of waiting) {
    if (sending === MAX_PARALLEL) return
    waiting.delete(upload)
    if (upload.state === 'waiting') void run(upload)
  }
}

function queue(upload: Upload): void {
  upload.state = 'waiting'
  waiting.add(upload)
}

/** Something to be sent into a folder: a file under a path relative to it, or an empty folder. */
export interface Sendable {
  path: string
  file: File | undefined
}

/** Queues files, with the folders they lie in. */
export function enqueue(folder: string, sendables: readonly Sendable[]): void {
  if (uploads.every(({ state }) => state === 'done' || state === 'skipped')) uploads.length = 0
  const batch: Batch = { decided: undefined, size: sendables.length }
  for (const { path, file } of sendables) {
    const parts = path.split('/').filter(Boolean)
    const name = parts.pop() ?? path
    const upload: Upload = {
      id: ++number,
      file,
      folder: parts.reduce(join, folder),
      name,
      sent: 0,
      state: 'waiting',
      error: undefined,
      batch,
      choice: undefined,
      stop: undefined,
    }
    uploads.push(upload)
    queue(upload)
  }
  notifyChange()
  advance()
}

export function cancel(upload: Upload): void {
  if (upload.state === 'sending') upload.stop?.abort(new Error('The upload was cancelled.'))
  else if (upload.state !== 'done') upload.state = 'skipped'
  notifyChange()
  advance()
}

export const cancelAll = (): void => uploads.forEach(cancel)

export function retry(upload: Upload): void {
  if (upload.state !== 'failed') return
  queue(upload)
  notifyChange()
  advance()
}

export const retryAll = (): void => uploads.forEach(retry)

/** Forgets all that is over. */
export function clearFinished(): void {
  cancelAll()
  uploads.length = 0
  notifyChange()
}

/** What broke off goes on as soon as the server is back. */
export function resumeWhenOnline(): void {
  effect(() => {
    if (!bridge.online.value) return
    for (const upload of uploads) {
      if (upload.error instanceof ApiError && upload.error.code === 'unreachable') retry(upload)
    }
  })
}
