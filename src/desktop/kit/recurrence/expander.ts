import type { Expansion } from './expand-rule.ts'

/** Time that a rule may take before its worker is ended, ms. */
const DEADLINE = 3_000

interface Job {
  expansion: Expansion
  resolve: (starts: readonly number[] | undefined) => void
}

const waiting: Job[] = []
let worker: Promise<Worker | undefined> | undefined
let isBusy = false

/** A worker that has loaded its code, so that the deadline measures rules only; undefined if it cannot be started. */
async function startWorker(): Promise<Worker | undefined> {
  const { default: RecurrenceWorker } = await import('./recurrence-worker.ts?worker&inline')
  const started = new RecurrenceWorker()
  return new Promise((resolve) => {
    started.addEventListener('message', () => resolve(started), { once: true })
    started.addEventListener('error', () => resolve(undefined), { once: true })
  })
}

const run = (on: Worker, { expansion, resolve }: Job): Promise<void> =>
  new Promise((done) => {
    const end = (starts?: readonly number[]): void => {
      clearTimeout(timer)
      on.removeEventListener('message', answer)
      resolve(starts)
      done()
    }
    const answer = ({ data }: MessageEvent<{ starts?: readonly number[] }>): void => end(data.starts)
    const timer = setTimeout(() => {
      on.terminate()
      worker = undefined
      end()
    }, DEADLINE)
    on.addEventListener('message', answer)
    on.postMessage(expansion)
  })

async function runAll(): Promise<void> {
  if (isBusy) return
  isBusy = true
  for (let job = waiting.shift(); job; job = waiting.shift()) {
    worker ??= startWorker().catch(() => undefined)
    const on = await worker
    if (on) await run(on, job)
    else {
      worker = undefined
      job.resolve(undefined)
    }
  }
  isBusy = false
}

/** Expands a rule in a worker; undefined if the rule is not valid or takes too long. */
export const expand = (expansion: Expansion): Promise<readonly number[] | undefined> =>
  new Promise((resolve) => {
    waiting.push({ expansion, resolve })
    void runAll()
  })
