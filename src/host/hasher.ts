import { Worker } from 'node:worker_threads'
import { hashInline, type HashJob } from './hash-job.ts'
import { hashThread, type FromHasher, type ToHasher } from './hash-thread.ts'

// Owns the hashing thread: the first large job starts it, `close` ends it. Whoever creates a hasher must close it.

export interface Hasher {
  /** Starts a checksum. `size` is in bytes if known; small contents are hashed without the thread. */
  start(size?: number): HashJob
  /** Ends the thread; pending jobs fail. */
  close(): Promise<void>
}

/** Contents from this size on are hashed on the thread, bytes. */
const THREAD_THRESHOLD = 16 * 1_048_576

export function makeHasher(): Hasher {
  let thread: Thread | undefined
  let jobs = 0
  const open = (): Thread => {
    const opened = openThread(() => {
      if (thread === opened) thread = undefined
    })
    return opened
  }

  return {
    start(size = Infinity) {
      if (size < THREAD_THRESHOLD) return hashInline()
      return jobOn(() => (thread ??= open()), (jobs += 1))
    },
    async close() {
      await thread?.close()
    },
  }
}

function jobOn(threadNow: () => Thread, job: number): HashJob {
  // A job cannot move to another thread.
  let thread: Thread | undefined
  let failure: Error | undefined
  let ended = false

  async function ask(message: ToHasher): Promise<string | undefined> {
    try {
      if (ended) throw new Error('This checksum is already complete.')
      if ('end' in message) ended = true
      if (failure) throw failure
      thread ??= threadNow()
      return await thread.ask(message)
    } catch (error) {
      throw (failure ??= error as Error)
    }
  }

  return {
    memory: (length) => Buffer.from(new SharedArrayBuffer(length)),
    async update(bytes) {
      await ask({ job, bytes })
    },
    async advance({ fd }, upTo) {
      await ask({ job, fd, upTo })
    },
    async digest() {
      return (await ask({ job, end: 'digest' }))!
    },
    async abandon() {
      if (!thread || ended) return
      ended = true
      await thread.ask({ job, end: 'abandon' }).catch(() => undefined)
    },
  }
}

interface Thread {
  ask(message: ToHasher): Promise<string | undefined>
  close(): Promise<void>
}

/** Keeps the process alive only while a response or its end is awaited. `onEnd` is called when the thread has ended. */
function openThread(onEnd: () => void): Thread {
  const worker = new Worker(`(${hashThread.toString()})()`, { eval: true })
  const waiting: { resolve: (sha256?: string) => void; reject: (error: Error) => void }[] = []
  let ended: Error | undefined
  let closing = false

  function hold(): void {
    if (closing || waiting.length > 0) worker.ref()
    else worker.unref()
  }
  hold()

  function end(error: Error): void {
    ended ??= error
    onEnd()
    for (const { reject } of waiting.splice(0)) reject(ended)
  }

  worker.on('message', ({ sha256, error }: FromHasher) => {
    const next = waiting.shift()
    hold()
    if (error) next?.reject(error)
    else next?.resolve(sha256)
  })
  worker.on('error', end)
  worker.on('exit', () => end(new Error('The thread that makes checksums has ended.')))

  return {
    ask: (message) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(ended)
        waiting.push({ resolve, reject })
        hold()
        worker.postMessage(message)
      }),
    async close() {
      closing = true
      hold()
      await worker.terminate()
    },
  }
}
