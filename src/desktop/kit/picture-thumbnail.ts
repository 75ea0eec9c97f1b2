import { useEffect, useState } from 'preact/hooks'
import { ApiError } from './api-error.ts'
import { bridge } from './bridge.ts'

/** A file with an image. */
export interface PictureFile {
  path: string
  mime: string
  /** Bytes; where it is not known, the browser makes no thumbnail. */
  size?: number
  /** Identifies its content. */
  tag?: string | undefined
  modified?: string
}

/** Longest edges of thumbnails, pixels. */
export type ThumbnailSize = 128 | 256 | 512 | 1024

/** Requests at a time. */
const MAX_RUNNING = 4
/** Thumbnails that stay in memory. */
const MAX_KEPT = 400
/** Largest image that the browser scales where the server makes no thumbnails: bytes and pixels. */
const LARGEST = { bytes: 16 * 1_048_576, pixels: 40_000_000 }
const ATTEMPTS = 4

/** Object URLs by file and size, the last used at the end; undefined if there is no thumbnail. */
const kept = new Map<string, string | undefined>()
/** Tasks that wait; the newest goes first, because it is what is visible. */
const waiting: (() => Promise<void>)[] = []
let running = 0
/** Whether the server makes none. */
let isOurs = false

function runNext(): void {
  const task = running < MAX_RUNNING ? waiting.pop() : undefined
  if (!task) return
  running++
  void task().finally(() => {
    running--
    runNext()
  })
}

function keep(key: string, url: string | undefined): void {
  kept.set(key, url)
  const [oldest] = kept.keys()
  if (kept.size <= MAX_KEPT || oldest === undefined) return
  const address = kept.get(oldest)
  kept.delete(oldest)
  if (address !== undefined) URL.revokeObjectURL(address)
}

const loaded = (image: HTMLImageElement): Promise<boolean> =>
  new Promise((resolve) => {
    image.onload = () => resolve(true)
    image.onerror = () => resolve(false)
  })

/** Scales a bitmap in the browser. Its size is known before it is decoded. */
async function scale({ path, mime, size }: PictureFile, edge: number, signal: AbortSignal): Promise<Blob | undefined> {
  if (size === undefined || size > LARGEST.bytes || mime === 'image/svg+xml') return undefined
  const bytes = new Blob([await bridge.call('filesystem.download', { path }, { signal })], { type: mime })
  const url = URL.createObjectURL(bytes)
  const image = new Image()
  image.src = url
  const isImage = await loaded(image)
  URL.revokeObjectURL(url)
  const { naturalWidth: width, naturalHeight: height } = image
  if (!isImage || width * height > LARGEST.pixels || width * height === 0) return undefined
  const share = Math.min(1, edge / Math.max(width, height))
  const options = { resizeWidth: Math.ceil(width * share), resizeHeight: Math.ceil(height * share) }
  const bitmap = await createImageBitmap(bytes, { ...options, resizeQuality: 'medium' })
  const canvas = document.createElement('canvas')
  canvas.width = bitmap.width
  canvas.height = bitmap.height
  canvas.getContext('bitmaprenderer')!.transferFromImageBitmap(bitmap)
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? undefined), 'image/webp'))
}

const hasCode = (error: unknown, ...codes: string[]): error is ApiError =>
  error instanceof ApiError && codes.includes(error.code)

/** The thumbnail as bytes; undefined if the image has none. */
async function make(file: PictureFile, size: ThumbnailSize, signal: AbortSignal): Promise<Blob | undefined> {
  const { path, tag } = file
  for (let attempt = 1; ; attempt++) {
    try {
      if (isOurs) return await scale(file, size, signal)
      return await bridge.call(
        'filesystem.thumbnail',
        { path, size, ...(tag === undefined ? {} : { tag }) },
        { signal },
      )
    } catch (error) {
      if (signal.aborted) throw error
      if (hasCode(error, 'thumbnails_unavailable')) isOurs = true
      else if (!hasCode(error, 'busy', 'unreachable') || attempt === ATTEMPTS) {
        if (hasCode(error, 'unreachable')) throw error
        return undefined
      } else await new Promise((resolve) => setTimeout(resolve, 1_000 * (error.retryAfter ?? attempt)))
    }
  }
}

/** The address of a thumbnail: undefined while it is made, null if there is none. */
export function useThumbnail(file: PictureFile | undefined, size: ThumbnailSize): string | null | undefined {
  const key = file && `${size} ${file.tag ?? `${file.path} ${file.modified ?? ''}`}`
  const [made, setMade] = useState<{ key: string; url: string | undefined }>()
  useEffect(() => {
    if (!file || key === undefined) return
    if (kept.has(key)) {
      const url = kept.get(key)
      kept.delete(key)
      kept.set(key, url)
      setMade({ key, url })
      return
    }
    const stop = new AbortController()
    const task = async () => {
      try {
        const blob = await make(file, size, stop.signal)
        const url = blob && URL.createObjectURL(blob)
        keep(key, url)
        setMade({ key, url })
      } catch {
        // It left the screen, or the server is away: the next time asks again.
      }
    }
    waiting.push(task)
    runNext()
    return () => {
      stop.abort(new Error('The picture left the screen.'))
      const at = waiting.indexOf(task)
      if (at >= 0) waiting.splice(at, 1)
    }
  }, [key])
  if (key === undefined) return null
  return made?.key === key ? (made.url ?? null) : undefined
}
