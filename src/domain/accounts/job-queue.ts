import type { Fault } from '../../contract/errors.ts'

export interface QueueOptions {
  /** Jobs that run concurrently. */
  atOnce: number
  /** Jobs that may wait, first in, first out. */
  waiting: number
  full: () => Fault
}

export type Queue = <T>(job: () => Promise<T>) => Promise<T>

export function makeQueue({ atOnce, waiting, full }: QueueOptions): Queue {
  let running = 0
  const line: (() => void)[] = []

  return async (job) => {
    if (running < atOnce) running += 1
    else if (line.length >= waiting) throw full()
    // A finished job passes its slot on, so `running` already counts the next one.
    else await new Promise<void>((wake) => line.push(wake))
    try {
      return await job()
    } finally {
      const next = line.shift()
      if (next) next()
      else running -= 1
    }
  }
}

export type QueuePerKey = <T>(key: string, job: () => Promise<T>) => Promise<T>

/** One queue per key, removed when empty. */
export function makeQueuePerKey(options: QueueOptions): QueuePerKey {
  const queues = new Map<string, { queue: Queue; inside: number }>()

  return async (key, job) => {
    const entry = queues.get(key) ?? { queue: makeQueue(options), inside: 0 }
    queues.set(key, entry)
    entry.inside += 1
    try {
      return await entry.queue(job)
    } finally {
      entry.inside -= 1
      if (entry.inside === 0) queues.delete(key)
    }
  }
}
