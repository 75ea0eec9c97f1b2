import { Exit } from './exit.ts'

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Work in progress that can end in good order; a signal goes to the innermost. */
const stack: { stop: (signal: NodeJS.Signals) => void; isStopping: boolean }[] = []

let endNow: () => void = () => undefined

function onSignal(signal: NodeJS.Signals): void {
  const work = stack.at(-1)
  if (!work) endNow()
  else if (!work.isStopping) {
    work.isStopping = true
    work.stop(signal)
    // A closing terminal sends SIGHUP twice: by the kernel and by the shell. A server's command gets SIGTERM from systemd too.
  } else if (signal === 'SIGINT') endNow()
}

export const interrupted = (message = 'Interrupted.'): Exit => new Exit(130, message, 'interrupted')

/**
 * Handles the signals that end the process, for every command. The promise rejects if it must end at once: no work in
 * progress can end in good order, or SIGINT arrived after another signal.
 */
export const watchSignals = (): Promise<never> =>
  new Promise((_, reject) => {
    endNow = () => reject(interrupted())
    for (const signal of ENDING) process.on(signal, onSignal)
  })

/** Runs work that ends in good order when a signal aborts it with `ending`. `more` adds signals to the usual ones. */
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
