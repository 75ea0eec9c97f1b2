import { Exit } from './exit.ts'

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Work in progress that ends in good order when it is asked to; the innermost is asked. */
const stack: { stop: (signal: NodeJS.Signals) => void; isStopping: boolean }[] = []

let endNow: () => void = () => undefined

function onSignal(signal: NodeJS.Signals): void {
  const work = stack.at(-1)
  if (!work) endNow()
  else if (!work.isStopping) {
    work.isStopping = true
    work.stop(signal)
    // A terminal that closes sends it twice: by the kernel and by the shell.
  } else if (signal !== 'SIGHUP') endNow()
}

export const interrupted = (message = 'Interrupted.'): Exit => new Exit(130, message, 'interrupted')

/**
 * Handles the signals that ask the process to end, for every command. The promise rejects when it is to end at once: nothing in
 * progress ends in good order, or somebody asks a second time.
 */
export const watchSignals = (): Promise<never> =>
  new Promise((_, reject) => {
    endNow = () => reject(interrupted())
    for (const signal of ENDING) process.on(signal, onSignal)
  })

/**
 * Runs work that ends in good order when the user or the system asks it to: `signal` is aborted with `ending`. More signals
 * than usual may count as asking.
 */
export async function interruptible<T>(
  ending: string | ((signal: NodeJS.Signals) => Exit),
  work: (signal: AbortSignal) => Promise<T>,
  more: readonly NodeJS.Signals[] = [],
): Promise<T> {
  const controller = new AbortController()
  const stop = (signal: NodeJS.Signals): void =>
    controller.abort(typeof ending === 'string' ? interrupted(ending) : ending(signal))
  const entry = { stop, isStopping: false }
  stack.push(entry)
  for (const signal of more) process.on(signal, onSignal)
  try {
    return await work(controller.signal)
  } finally {
    for (const signal of more) process.off(signal, onSignal)
    stack.splice(stack.indexOf(entry), 1)
  }
}
