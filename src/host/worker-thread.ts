import { Worker } from 'node:worker_threads'

/** A thread that answers each message, in their order. */
export interface WorkerThread<Message, Answer> {
  ask(message: Message): Promise<Answer>
  /** Ends it at once; pending messages fail. */
  terminate(): Promise<void>
}

interface Options {
  workerData?: unknown
  /** Says in errors which thread has ended. */
  task: string
  /** Called when it has ended. */
  onEnd(): void
}

/**
 * Starts a thread. `program` is passed as text, so that it works however the package is bundled: it must use nothing outside its
 * own body. The thread keeps the process alive only while an answer or its end is awaited.
 */
export function startThread<Message, Answer>(
  program: () => void,
  { workerData, task, onEnd }: Options,
): WorkerThread<Message, Answer> {
  const worker = new Worker(`(${program.toString()})()`, { eval: true, workerData })
  const waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void }[] = []
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

  worker.on('message', (answer: Answer) => {
    const next = waiting.shift()
    hold()
    next?.resolve(answer)
  })
  worker.on('error', end)
  worker.on('exit', () => end(new Error(`The thread that ${task} has ended.`)))

  return {
    ask: (message) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(ended)
        waiting.push({ resolve, reject })
        hold()
        worker.postMessage(message)
      }),
    async terminate() {
      closing = true
      hold()
      await worker.terminate()
    },
  }
}
