/** Messages to the hashing thread. Shared memory is not copied. */
export type ToHasher =
  | { job: number; bytes: Uint8Array }
  | { job: number; fd: number; upTo: number }
  | { job: number; end: 'digest' | 'abandon' }

/** Responses, in the order of the requests: done, the result in lower-case hex, or an error. */
export interface FromHasher {
  sha256?: string
  error?: Error
}

/** The program of the thread (`worker-thread.ts`). */
export function hashThread(): void {
  const { createHash } = process.getBuiltinModule('node:crypto')
  const { readSync } = process.getBuiltinModule('node:fs')
  const port = process.getBuiltinModule('node:worker_threads').parentPort!
  const jobs = new Map<number, { hash: ReturnType<typeof createHash>; position: number }>()
  const buffer = Buffer.allocUnsafe(1 << 20)

  function stateOf(job: number) {
    const state = jobs.get(job) ?? { hash: createHash('sha256'), position: 0 }
    jobs.set(job, state)
    return state
  }

  function hashUpTo(job: number, fd: number, upTo: number): void {
    const state = stateOf(job)
    while (state.position < upTo) {
      const length = readSync(fd, buffer, 0, Math.min(buffer.length, upTo - state.position), state.position)
      if (length === 0) throw new Error(`The file ends at ${state.position} instead of ${upTo}.`)
      state.hash.update(buffer.subarray(0, length))
      state.position += length
    }
  }

  function answer(message: ToHasher): FromHasher {
    const { job } = message
    if ('bytes' in message) stateOf(job).hash.update(message.bytes)
    else if ('fd' in message) hashUpTo(job, message.fd, message.upTo)
    else {
      const { hash } = stateOf(job)
      jobs.delete(job)
      if (message.end === 'digest') return { sha256: hash.digest('hex') }
    }
    return {}
  }

  port.on('message', (message: ToHasher) => {
    try {
      port.postMessage(answer(message))
    } catch (error) {
      port.postMessage({ error })
    }
  })
}
