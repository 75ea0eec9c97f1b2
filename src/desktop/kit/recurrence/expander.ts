import type { Expansion } from './expand-rule.ts'

/** Time that a rule may take before its worker is ended, ms. */
const DEADLINE = 3_000

interface Job {
  expansion: Expansion
  resolve: (starts: readonly number[] | undefined) => void
}

/** Starts the worker of `recurrence-worker.ts`. */
type Start = () => Promise<Worker>

/** A worker that has loaded its code, so that the deadline measures rules only; undefined if it cannot be started. */
async function ready(start: Start): Promise<Worker | undefined> {
  const started = await start()
  return new Promise((resolve) => {
    started.addEventListener('message', () => resolve(started), { once: true })
    started.addEventListener('error', () => resolve(undefined), { once: true })
  })
}

/** Runs a job; false if its worker was ended because it took too long. */
const run = (on: Worker, { expansion, resolve }: Job): Promise<boolean> =>
  new Promise((done) => {
    const end = (isAlive: boolean, starts?: readonly number[]): void => {
      clearTimeout(timer)
      on.removeEventListener('message', answer)
      resolve(starts)
      done(isAlive)
    }
    const answer = ({ data }: MessageEvent<{ starts?: readonly number[] }>): void => end(true, data.starts)
    const timer = setTimeout(() => {
      on.terminate()
      end(false)
    }, DEADLINE)
    on.addEventListener('message', answer)
    on.postMessage(expansion)
  })

/** A function that expands rules in a worker; its answer is undefined if the rule is not valid or takes too long. */
export function makeExpander(start: Start) {
  const waiting: Job[] = []
  let worker: Promise<Worker | undefined> | undefined
  let isBusy = false

  async function runAll(): Promise<void> {
    if (isBusy) return
    isBusy = true
    for (let job = waiting.shift(); job; job = waiting.shift()) {
      worker ??= ready(start).catch(() => undefined)
      const on = await worker
      if (!on) job.resolve(undefined)
      if (!on || !(await run(on, job))) worker = undefined
    }
    isBusy = false
  }

  return (expansion: Expansion): Promise<readonly number[] | undefined> =>
    new Promise((resolve) => {
      waiting.push({ expansion, resolve })
      void runAll()
    })
}
