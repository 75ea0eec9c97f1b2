import { Worker } from 'node:worker_threads'
import { engineName, type SqliteHandle } from '../../host/sqlite-engine.ts'
import type { CheckpointProgress, Connection } from './sqlite-connection.ts'

// Moves the write-ahead log into the database file on another thread. A first checkpoint runs beside the writer and leaves what is
// committed meanwhile; a second one, for which the writer waits, takes the rest, so that the next transaction begins the log anew.

/** Pages in the log from which on it is worth a checkpoint, some 4 MiB. */
const WORTH = 1_000
/** Pages in the log from which on the writer waits for the first checkpoint too, some 64 MiB. */
const TOO_MANY = 16_000

type Answer = { progress: CheckpointProgress } | { error: Error }

export interface Checkpoints {
  /** To be called between two transactions; the next one may begin when it resolves. */
  between(): Promise<void>
  onFailure(listener: (error: Error) => void): void
  close(): Promise<void>
}

/** Checkpoints of a file whose commits `writer` makes, without checkpoints of its own. */
export function makeCheckpoints(file: string, writer: Connection): Checkpoints {
  const listeners: ((error: Error) => void)[] = []
  let thread: Thread | undefined
  let first: Promise<void> | undefined
  /** Whether a first checkpoint is over whose rest is due. */
  let restIsDue = false
  let next = WORTH

  async function checkpoint(): Promise<CheckpointProgress | undefined> {
    const answer = await (thread ??= startThread(file)).checkpoint()
    if ('progress' in answer) return answer.progress
    // On a full disk the log stays as it is, and is tried again later.
    if (!/^SQLITE_(FULL|BUSY)/.test(String((answer.error as { code?: unknown }).code)))
      for (const each of listeners) each(answer.error)
    return undefined
  }

  async function runFirst(): Promise<void> {
    await checkpoint()
    first = undefined
    restIsDue = true
  }

  async function runRest(log: number): Promise<void> {
    restIsDue = false
    const progress = await checkpoint()
    // Somebody reads an old state for long: what is left waits until the log has grown by as much again.
    const isWhole = progress !== undefined && progress.checkpointed === progress.log
    next = isWhole ? WORTH : (progress?.log ?? log) + WORTH
  }

  return {
    async between() {
      const { log } = writer.checkpointProgress()
      if (first && log >= TOO_MANY) await first
      if (first) return
      if (restIsDue) await runRest(log)
      else if (log >= next) first = runFirst()
    },
    onFailure: (listener) => void listeners.push(listener),
    async close() {
      await first
      await thread?.close()
    },
  }
}

interface Thread {
  checkpoint(): Promise<Answer>
  close(): Promise<void>
}

/** The program of the thread, handed over as text: it must not use anything from outside its own body. */
function checkpointThread(): void {
  const { createRequire } = process.getBuiltinModule('node:module')
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads')
  const { from, engine, file } = workerData as { from: string; engine: string; file: string }
  const port = parentPort!
  const open = createRequire(from)(engine) as new (file: string, options: object) => SqliteHandle
  const handle = new open(file, { fileMustExist: true })
  port.on('message', (message: 'checkpoint' | 'close') => {
    if (message === 'close') {
      handle.close()
      port.close()
      return
    }
    try {
      port.postMessage({ progress: (handle.pragma('wal_checkpoint(PASSIVE)') as object[])[0] })
    } catch (error) {
      port.postMessage({
        error: Object.assign(new Error((error as Error).message), { code: (error as { code?: string }).code }),
      })
    }
  })
}

/** Starts the thread. It keeps the process alive only while it works or ends. */
function startThread(file: string): Thread {
  const workerData = { from: import.meta.url, engine: engineName, file }
  const worker = new Worker(`(${checkpointThread.toString()})()`, { eval: true, workerData })
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  let failure: Error | undefined
  let answered: ((answer: Answer) => void) | undefined
  worker.unref()
  worker.on('message', (answer: Answer) => answered?.(answer))
  worker.on('error', (error) => (failure = error as Error))
  worker.on('exit', () => answered?.({ error: failure ?? new Error('The thread that makes checkpoints has ended.') }))
  return {
    async checkpoint() {
      if (failure) return { error: failure }
      worker.ref()
      const answer = await new Promise<Answer>((resolve) => {
        answered = resolve
        worker.postMessage('checkpoint')
      })
      worker.unref()
      return answer
    },
    async close() {
      worker.ref()
      worker.postMessage('close')
      await ended
    },
  }
}
