import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { engineName, type SqliteHandle } from '../../host/sqlite-engine.ts'
import type { CheckpointProgress, Connection } from './sqlite-connection.ts'
import type { FileGuard } from './sqlite-guard.ts'

// Checkpoints the write-ahead log on another thread. A first checkpoint runs beside the writer and leaves later
// commits; a second one, for which the writer waits, completes it, so that the next transaction restarts the log.

/** Log size that is worth a checkpoint, in pages; about 4 MiB. */
const CHECKPOINT_PAGES = 1_000
/** Log size from which the writer also waits for the first checkpoint, in pages; about 64 MiB. */
const BLOCKING_PAGES = 16_000

/** An `Error` loses its code between threads. */
type Answer = { progress: CheckpointProgress } | { code: string; message: string }

export interface Checkpoints {
  /** Call between two transactions; the next one may begin when it resolves. */
  between(): Promise<void>
  onFailure(listener: (error: Error) => void): void
  close(): Promise<void>
}

/** Checkpoints of a guarded file whose writer makes none itself. */
export function makeCheckpoints(file: string, writer: Connection, guard: FileGuard): Checkpoints {
  const listeners: ((error: Error) => void)[] = []
  let thread: Thread | undefined
  let first: Promise<void> | undefined
  /** Whether a first checkpoint is done and the second is due. */
  let restIsDue = false
  let next = CHECKPOINT_PAGES

  /** The thread, once it has opened the file; undefined if it cannot. */
  async function connected(): Promise<Thread | undefined> {
    if (thread || !guard.isInPlace()) return thread
    const started = startThread(file)
    if ((await started.isOpen) && guard.isInPlace()) return (thread = started)
    await started.close()
    return undefined
  }

  /** Undefined if the log is unchanged; the caller tries again later. */
  async function checkpoint(): Promise<CheckpointProgress | undefined> {
    const answer = await (await connected())?.checkpoint()
    if (answer === undefined || 'progress' in answer) return answer?.progress
    if (!/^SQLITE_(FULL|BUSY)/.test(answer.code)) for (const each of listeners) each(new Error(answer.message))
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
    // A long read holds an old state: wait until the log has grown by the same amount again.
    const isWhole = progress !== undefined && progress.checkpointed === progress.log
    next = isWhole ? CHECKPOINT_PAGES : (progress?.log ?? log) + CHECKPOINT_PAGES
  }

  return {
    async between() {
      const { log } = writer.checkpointProgress()
      if (first && log >= BLOCKING_PAGES) await first
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
  /** Whether it could open the file. */
  isOpen: Promise<boolean>
  checkpoint(): Promise<Answer>
  close(): Promise<void>
}

/** Source of the thread, passed as text: it must not use anything outside its body. */
function checkpointThread(): void {
  const { createRequire } = process.getBuiltinModule('node:module')
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads')
  const { from, engine, file } = workerData as { from: string; engine: string; file: string }
  const port = parentPort!
  const open = createRequire(from)(engine) as new (file: string, options: object) => SqliteHandle
  // The first checkpoint opens the log, after the guard has checked the file.
  const handle = new open(file, { fileMustExist: true })
  port.postMessage('open')
  port.on('message', (message: 'checkpoint' | 'close') => {
    if (message === 'close') {
      handle.close()
      port.close()
      return
    }
    try {
      port.postMessage({ progress: (handle.pragma('wal_checkpoint(PASSIVE)') as object[])[0] })
    } catch (error) {
      const { code, message: text } = error as Error & { code?: unknown }
      port.postMessage({ code: String(code), message: text })
    }
  })
}

/** Starts the thread. It keeps the process alive only while it works or closes. */
function startThread(file: string): Thread {
  const workerData = { from: import.meta.url, engine: engineName, file }
  const worker = new Worker(`(${checkpointThread.toString()})()`, { eval: true, workerData })
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  let reason = 'The thread that makes checkpoints has ended.'
  worker.on('error', (error) => (reason = String(error)))

  async function answer(): Promise<unknown> {
    worker.ref()
    const message = await Promise.race([once(worker, 'message').catch(() => undefined), ended])
    worker.unref()
    return message?.[0]
  }

  return {
    isOpen: answer().then((message) => message !== undefined),
    async checkpoint() {
      worker.postMessage('checkpoint')
      return ((await answer()) ?? { code: '', message: reason }) as Answer
    },
    async close() {
      worker.ref()
      worker.postMessage('close')
      await ended
    },
  }
}
