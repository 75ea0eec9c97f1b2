import { hashInline, type HashJob } from './hash-job.ts'
import { hashThread, type FromHasher, type ToHasher } from './hash-thread.ts'
import { startThread, type WorkerThread } from './worker-thread.ts'

// Owns the hashing thread: the first large job starts it, `close` ends it. Whoever creates a hasher must close it.

export interface Hasher {
  /** Starts a checksum. `size` is in bytes if known; small contents are hashed without the thread. */
  start(size?: number): HashJob
  /** Ends the thread; pending jobs fail. */
  close(): Promise<void>
}

type Thread = WorkerThread<ToHasher, FromHasher>

/** Contents from this size on are hashed on the thread, bytes. */
const THREAD_THRESHOLD = 16 * 1_048_576

/** Starts no thread by itself. */
export function makeHasher(): Hasher {
  let thread: Thread | undefined
  let jobs = 0
  const open = (): Thread => {
    const opened: Thread = startThread(hashThread, {
      task: 'makes checksums',
      onEnd() {
        if (thread === opened) thread = undefined
      },
    })
    return opened
  }

  return {
    start(size = Infinity) {
      if (size < THREAD_THRESHOLD) return hashInline()
      return jobOn(() => (thread ??= open()), (jobs += 1))
    },
    async close() {
      await thread?.terminate()
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
      const { sha256, error } = await thread.ask(message)
      if (error) throw error
      return sha256
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
