import type { Fault } from '../../contract/errors.ts'

export interface QueueOptions {
  /** Jobs that run at the same time. */
  atOnce: number
  /** Jobs that may wait, first come, first served. */
  waiting: number
  /** What a job is refused with when no place to wait is left. */
  full: () => Fault
}

export type Queue = <T>(job: () => Promise<T>) => Promise<T>

export function makeQueue({ atOnce, waiting, full }: QueueOptions): Queue {
  let running = 0
  const line: (() => void)[] = []

  return async (job) => {
    if (running < atOnce) running += 1
    else if (line.length >= waiting) throw full()
    // Whoever ends hands its place over, so `running` already counts the one that is woken.
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

/** A queue for every key, there for as long as somebody is in it. */
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
