import { Worker } from 'node:worker_threads'
import { hashThread, type FromHasher, type ToHasher } from './hash-thread.ts'

/** One SHA-256 in progress on the hashing thread, over a file that is being written. */
export interface HashJob {
  /** Hashes what stands in the file up to a position; to be called with growing positions, in turn or not waited for. */
  advance(fd: number, upTo: number): Promise<void>
  digest(): Promise<string>
  /** Ends a job without a result. When it resolves, the thread does not touch the file any more. */
  abandon(): Promise<void>
}

export interface Hasher {
  start(): HashJob
  close(): Promise<void>
}

type Waiting = { resolve: (sha256?: string) => void; reject: (error: Error) => void }

/** A thread that hashes, started on first use and not keeping the process alive. */
export function makeHasher(): Hasher {
  let worker: Worker | undefined
  let jobs = 0
  const waiting = new Map<number, Waiting[]>()

  function fail(error: Error): void {
    for (const job of waiting.values()) for (const { reject } of job) reject(error)
    waiting.clear()
    worker = undefined
  }

  function thread(): Worker {
    if (worker) return worker
    worker = new Worker(`(${hashThread.toString()})()`, { eval: true })
    worker.unref()
    worker.on('message', ({ job, sha256, error }: FromHasher) => {
      const next = waiting.get(job)?.shift()
      if (error) next?.reject(error)
      else next?.resolve(sha256)
    })
    worker.on('error', fail)
    return worker
  }

  const ask = (message: ToHasher): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      const queue = waiting.get(message.job) ?? []
      waiting.set(message.job, queue)
      queue.push({ resolve, reject })
      thread().postMessage(message)
    })

  return {
    start() {
      const job = ++jobs
      return {
        async advance(fd, upTo) {
          await ask({ job, fd, upTo })
        },
        async digest() {
          const sha256 = await ask({ job, end: 'digest' })
          waiting.delete(job)
          return sha256!
        },
        async abandon() {
          if (!waiting.has(job)) return
          await ask({ job, end: 'abandon' }).catch(() => undefined)
          waiting.delete(job)
        },
      }
    },
    async close() {
      await worker?.terminate()
    },
  }
}
