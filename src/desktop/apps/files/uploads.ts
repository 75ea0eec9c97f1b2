import { effect, signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { ApiError } from '../../kit/api-error.ts'
import { askAboutName, type Choice } from './name-conflict.tsx'
import { refresh } from './folder.ts'
import { freeName, join } from './paths.ts'

type State = 'waiting' | 'sending' | 'asking' | 'done' | 'skipped' | 'failed'

export interface Upload {
  id: number
  /** Undefined for an empty folder. */
  file: File | undefined
  folder: string
  name: string
  sent: number
  state: State
  error: unknown
  batch: Batch
  /** The answer to a name conflict. */
  choice: Choice | undefined
  stop: AbortController | undefined
}

/** Files uploaded together; an answer "for all" applies to them. */
interface Batch {
  decided: Choice | undefined
  size: number
}

const MAX_PARALLEL = 3

/** All uploads of this window, oldest first; `changes` is updated with them. */
export const uploads: Upload[] = []
export const changes = signal(0)
let number = 0
/** Queued and running uploads, so that finding the next one does not scan thousands. */
const waiting = new Set<Upload>()
let sending = 0
let isNotified = false

/** Notifies of changes, at most once per frame: progress events are frequent. */
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

/** Asks about a name conflict, unless the batch has an answer; one question at a time per batch. */
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

/** Starts queued uploads up to the limit. */
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

/** A file with its path relative to the target folder, or an empty folder. */
export interface Sendable {
  path: string
  file: File | undefined
}

/** Queues files and their folders. */
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

/** Removes finished uploads from the list. */
export function clearFinished(): void {
  cancelAll()
  uploads.length = 0
  notifyChange()
}

/** Resumes interrupted uploads when the server is reachable again. */
export function resumeWhenOnline(): void {
  effect(() => {
    if (!bridge.online.value) return
    for (const upload of uploads) {
      if (upload.error instanceof ApiError && upload.error.code === 'unreachable') retry(upload)
    }
  })
}
