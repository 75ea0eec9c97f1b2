import { Worker } from 'node:worker_threads'
import { hashInline, type HashJob } from './hash-job.ts'
import { hashThread, type FromHasher, type ToHasher } from './hash-thread.ts'

// The life of the hashing thread. The first large job starts it, `close` ends it, and whoever makes a hasher closes it: a blob
// store for as long as it is open, and a run of the sync client.

export interface Hasher {
  /** Begins a checksum; one of a known size, in bytes, that is not worth a thread is made without. */
  start(size?: number): HashJob
  /** Ends the thread; jobs that still wait for it fail. */
  close(): Promise<void>
}

/** From this size on, in bytes, a thread is worth the time of its start. */
const WORTH = 16 * 1_048_576

/** Makes checksums, large ones on a thread. */
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
      if (size < WORTH) return hashInline()
      return jobOn(() => (thread ??= open()), (jobs += 1))
    },
    async close() {
      await thread?.close()
    },
  }
}

function jobOn(threadNow: () => Thread, job: number): HashJob {
  // What is begun on one thread cannot go on on another.
  let thread: Thread | undefined
  let failure: Error | undefined
  let ended = false

  async function ask(message: ToHasher): Promise<string | undefined> {
    try {
      if (ended) throw new Error('This checksum has come to its end.')
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

/**
 * Starts the thread. It keeps the process alive only while it is waited for, be it for an answer or for its end: an answer that comes in
 * while it is being closed changes nothing of that. `onEnd` is called when it is no more.
 */
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
