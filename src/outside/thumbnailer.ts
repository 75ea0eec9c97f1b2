import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { Busy, Unavailable } from '../base/errors.ts'
import { memoryOfTree } from './sandbox-memory.ts'
import { thumbnailProcess } from './thumbnail-process.ts'

/** Why an image gets no thumbnail. */
export type Refusal = 'damaged' | 'pixels' | 'costly'

const OUTCOMES = [undefined, 'damaged', 'pixels'] as const

export interface ThumbnailJob {
  /** Whose job it is: accounts take turns. */
  user: number
  read: () => Promise<Readable | Buffer>
  /** Bytes of the image. */
  size: number
  /** Longest edge of the thumbnail, pixels. */
  edge: number
}

interface WaitingJob extends ThumbnailJob {
  resolve: (made: Buffer | Refusal) => void
  reject: (error: unknown) => void
}

interface Limits {
  /** Largest image. */
  pixels: number
  /** Memory of a process, bytes, and what measures it. */
  memory: number
  memoryOf: (pid: number) => Promise<number>
  /** Time of an image, ms; and that of a process without work, after which it ends. */
  timeMs: number
  idleMs: number
  processes: number
  /** Waiting images of an account, and of all. */
  waitingOfOne: number
  waiting: number
}

const STANDARD: Limits = {
  pixels: 100_000_000,
  memory: 512 * 1_048_576,
  memoryOf: memoryOfTree,
  timeMs: 15_000,
  idleMs: 60_000,
  processes: Math.min(4, Math.max(1, availableParallelism() >> 1)),
  waitingOfOne: 64,
  waiting: 512,
}

/** First bytes of bitmaps: JPEG, PNG, GIF, WebP, TIFF (two), HEIF. Anything else may be a drawing, SVG. */
const BITMAPS = new Set([0xff, 0x89, 0x47, 0x52, 0x49, 0x4d, 0x00])
/** Share of the time that a drawing gets: a few lines can describe years of work. */
const SHARE_OF_DRAWING = 0.1

/** Time in which a process starts, ms. */
const START_MS = 60_000
/** Interval of memory checks, ms. */
const CHECK_MS = 50

/** Signals of a crash. Others come from outside: from a kernel that is short of memory, or from an administrator. */
const CRASHES = new Set(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP'])

const findSharp = (): string | undefined => {
  try {
    return createRequire(import.meta.url).resolve('sharp')
  } catch {
    return undefined
  }
}

/**
 * Makes thumbnails in processes of their own: decoders of images are large and meet hostile input. A process has low
 * priority, no environment, and limits; it is killed when it exceeds one, and the next image starts another.
 */
export function makeThumbnailer({
  sharp = findSharp(),
  ...given
}: Partial<Limits> & { sharp?: string | undefined } = {}) {
  const limits = { ...STANDARD, ...given }
  const waiting: WaitingJob[] = []
  const idle: Decoder[] = []
  const running = new Set<Decoder>()
  let lastUser = 0
  let isClosed = false
  let isBroken = false

  async function work(decoder: Decoder, { resolve, reject, ...job }: WaitingJob): Promise<void> {
    running.add(decoder)
    try {
      resolve(await decoder.decode(job))
    } catch (error) {
      if (error instanceof Unavailable) isBroken = true
      reject(error)
    }
    running.delete(decoder)
    if (decoder.isAlive() && !isClosed) {
      idle.push(decoder)
      decoder.rest(() => {
        if (idle.includes(decoder)) idle.splice(idle.indexOf(decoder), 1)
      })
    } else decoder.kill()
    assign()
  }

  function assign(): void {
    while (waiting.length > 0 && (idle.length > 0 || running.size < limits.processes)) {
      const at = waiting.findIndex(({ user }) => user !== lastUser)
      const [job] = waiting.splice(Math.max(0, at), 1)
      lastUser = job!.user
      work(idle.pop() ?? openDecoder(sharp!, limits), job!).catch(job!.reject)
    }
  }

  return {
    /** Whether `sharp` is installed and can be loaded. */
    isAvailable: () => sharp !== undefined && !isBroken,
    /** The largest image, pixels. */
    pixels: limits.pixels,

    /** The thumbnail as WebP, or why there is none. Throws `Busy` if too many images wait. */
    make(job: ThumbnailJob): Promise<Buffer | Refusal> {
      const own = waiting.filter(({ user }) => user === job.user).length
      if (isClosed || own >= limits.waitingOfOne || waiting.length >= limits.waiting)
        return Promise.reject(new Busy('Too many thumbnails are being made.'))
      return new Promise((resolve, reject) => {
        waiting.push({ ...job, resolve, reject })
        assign()
      })
    },

    close(): void {
      isClosed = true
      for (const { reject } of waiting.splice(0)) reject(new Busy('The server is stopping.'))
      for (const decoder of [...idle.splice(0), ...running]) decoder.kill()
    },
  }
}

interface Decoder {
  decode(job: ThumbnailJob): Promise<Buffer | Refusal>
  isAlive(): boolean
  /** Ends the process after a time without work; `ended` is called first. */
  rest(ended: () => void): void
  kill(): void
}

/** Does some work of a process, and calls `exceeded` if it takes too much time or memory. */
async function bounded<T>(
  pid: number,
  { memory, memoryOf, timeMs }: Pick<Limits, 'memory' | 'memoryOf' | 'timeMs'>,
  exceeded: () => void,
  work: () => Promise<T>,
): Promise<T> {
  let isDone = false
  // Measuring takes time: the process may have other work by then.
  const stop = () => {
    if (!isDone) exceeded()
  }
  const check = async () => {
    if ((await memoryOf(pid)) > memory) stop()
  }
  const timer = setTimeout(stop, timeMs)
  const watch = setInterval(() => void check().catch(stop), CHECK_MS)
  try {
    return await work()
  } finally {
    isDone = true
    clearTimeout(timer)
    clearInterval(watch)
  }
}

/** Sends an image, unless the process ends. Returns whether it is a drawing. */
async function send({ read, size, edge }: ThumbnailJob, to: Writable, ended: Promise<undefined>): Promise<boolean> {
  let first: number | undefined
  const head = Buffer.alloc(8)
  head.writeUInt32LE(size)
  head.writeUInt32LE(edge, 4)
  to.write(head)
  const content = await read()
  for await (const piece of Buffer.isBuffer(content) ? [content] : (content as AsyncIterable<Uint8Array>)) {
    first ??= piece[0]
    if (to.destroyed) break
    if (!to.write(piece)) await Promise.race([once(to, 'drain').catch(() => undefined), ended])
  }
  return first !== undefined && !BITMAPS.has(first)
}

function openDecoder(sharp: string, { pixels, memory, memoryOf, timeMs, idleMs }: Limits): Decoder {
  const args = ['--max-old-space-size=64', '-e', `(${thumbnailProcess.toString()})()`, sharp, String(pixels)]
  const child = spawn(process.execPath, args, { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] })
  /** Why it ended or is about to: sharp could not be loaded, its image was too much for it, or neither. */
  let ending: 'unusable' | 'costly' | 'killed' | undefined
  let hasAnswered = false
  let resting: NodeJS.Timeout | undefined
  let onIdle = (): void => {}
  const ended = new Promise<undefined>((resolve) => {
    const end = (how: typeof ending) => {
      ending ??= how
      clearTimeout(resting)
      onIdle()
      resolve(undefined)
    }
    child.once('error', () => end('killed'))
    child.once('exit', (code, signal) => {
      if (code !== null) end(hasAnswered ? 'costly' : 'unusable')
      else end(CRASHES.has(signal!) ? 'costly' : 'killed')
    })
  })
  // A process that ended breaks the pipe; `ended` tells.
  child.stdin.on('error', () => undefined)
  function kill(why: 'costly' | 'killed'): void {
    ending ??= why
    child.kill('SIGKILL')
  }
  const exceeded = () => kill('costly')

  let answer = Buffer.alloc(0)
  async function receive(): Promise<Buffer | Refusal> {
    while (answer.length < 8 || answer.length < 8 + answer.readUInt32LE()) {
      const piece = child.stdout.read() as Buffer | null
      if (piece) answer = Buffer.concat([answer, piece])
      else if (ending === 'unusable')
        throw new Unavailable('sharp could not be started: run "npm install" again, or remove it.')
      else if (ending === 'killed') throw new Busy('The process for thumbnails was ended.')
      else if (ending === 'costly') return 'costly'
      else await Promise.race([once(child.stdout, 'readable').catch(() => undefined), ended])
    }
    hasAnswered = true
    const end = 8 + answer.readUInt32LE()
    const made = OUTCOMES[answer.readUInt32LE(4)] ?? answer.subarray(8, end)
    answer = answer.subarray(end)
    return made
  }

  async function started(): Promise<void> {
    const within = { memory: Infinity, memoryOf, timeMs: START_MS }
    if (!Buffer.isBuffer(await bounded(child.pid ?? 0, within, exceeded, receive)))
      throw new Busy('The process for thumbnails did not start.')
  }
  const ready = started()
  ready.catch(() => undefined)

  return {
    async decode(job) {
      clearTimeout(resting)
      onIdle = () => {}
      child.ref()
      await ready
      // A slow store is not the fault of the image.
      const isDrawing = await send(job, child.stdin, ended).catch((error: unknown) => {
        kill('killed')
        throw error
      })
      const within = { memory, memoryOf, timeMs: isDrawing ? timeMs * SHARE_OF_DRAWING : timeMs }
      return bounded(child.pid ?? 0, within, exceeded, receive)
    },
    isAlive: () => ending === undefined,
    rest(left) {
      child.unref()
      onIdle = left
      resting = setTimeout(() => {
        // First of all it gets no more work.
        left()
        kill('killed')
      }, idleMs)
      resting.unref()
    },
    kill: () => kill('killed'),
  }
}
