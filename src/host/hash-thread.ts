/** What the hashing thread is told: hash a file up to a position, or end a job, with or without its result. */
export type ToHasher = { job: number; fd: number; upTo: number } | { job: number; end: 'digest' | 'abandon' }

/** What it answers, in the order it was told: how far it hashed, the result in lower-case hex, or what went wrong. */
export type FromHasher = { job: number; sha256?: string; error?: Error }

/**
 * The program of the hashing thread. It is handed over as text, so that it runs wherever the package is bundled to: it
 * must not use anything from outside its own body.
 */
export function hashThread(): void {
  const { createHash } = process.getBuiltinModule('node:crypto')
  const { readSync } = process.getBuiltinModule('node:fs')
  const port = process.getBuiltinModule('node:worker_threads').parentPort!
  const jobs = new Map<number, { hash: ReturnType<typeof createHash>; position: number }>()
  const buffer = Buffer.allocUnsafe(1 << 20)

  function hashUpTo(job: number, fd: number, upTo: number): void {
    const state = jobs.get(job) ?? { hash: createHash('sha256'), position: 0 }
    jobs.set(job, state)
    while (state.position < upTo) {
      const length = readSync(fd, buffer, 0, Math.min(buffer.length, upTo - state.position), state.position)
      if (length === 0) throw new Error(`The file ends at ${state.position} instead of ${upTo}.`)
      state.hash.update(buffer.subarray(0, length))
      state.position += length
    }
  }

  port.on('message', (message: ToHasher) => {
    const { job } = message
    try {
      if ('fd' in message) {
        hashUpTo(job, message.fd, message.upTo)
        port.postMessage({ job })
        return
      }
      const hash = jobs.get(job)?.hash ?? createHash('sha256')
      jobs.delete(job)
      port.postMessage(message.end === 'digest' ? { job, sha256: hash.digest('hex') } : { job })
    } catch (error) {
      port.postMessage({ job, error })
    }
  })
}
