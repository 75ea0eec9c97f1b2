import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'

/** EX_SOFTWARE of sysexits(3). */
const UNFINISHED = 70
const INTERRUPTED = 130

const MESSAGE =
  'The command ended before its work was done. This is an error in svc: nothing says how far it came. ' +
  'What was done stays done; run it again.'

export interface ExitGuard {
  /** Declares the work done: the process ends with this code as soon as nothing is left to do. */
  finish(code: number): void
  /** Ends the process at once with this code. */
  end(code: number): never
}

/**
 * Keeps an end of the process before `finish` from looking like success: an event loop that ran empty, or a library that calls
 * `process.exit`. Must run before any library is loaded: libraries wrap `process.reallyExit`, so the first wrapper runs last.
 */
export function guardExit(isJson: boolean): ExitGuard {
  // Undocumented, and kept by Node for wrappers such as signal-exit.
  const nodeProcess = process as NodeJS.Process & { reallyExit(code: number): never }
  const reallyExit = nodeProcess.reallyExit.bind(process)
  let finished: number | undefined

  nodeProcess.reallyExit = () => {
    closeLostTerminal()
    if (finished !== undefined) return reallyExit(finished)
    writeError(
      isJson ? JSON.stringify({ error: MESSAGE, code: 'unfinished', exit_code: UNFINISHED }) : `svc: ${MESSAGE}`,
    )
    return reallyExit(UNFINISHED)
  }
  // An event loop that ran empty ends without `reallyExit`; `process.exit` goes through it.
  process.once('beforeExit', () => process.exit(finished ?? UNFINISHED))
  // Node lets handlers of `exit` turn the code of an uncaught exception into 0.
  process.once('uncaughtException', (error: NodeJS.ErrnoException) => {
    finished = isLostTerminal(error) ? INTERRUPTED : undefined
    if (finished === undefined) writeError(error.stack ?? error.message)
    process.exit(UNFINISHED)
  })

  return {
    finish: (code) => void (finished = code),
    end(code) {
      finished = code
      process.exit(code)
    },
  }
}

/** readline cannot set a terminal that is gone back to how it was, and throws where nobody can catch it. */
const isLostTerminal = ({ code, syscall }: NodeJS.ErrnoException): boolean => code === 'EIO' && syscall === 'setRawMode'

function writeError(line: string): void {
  try {
    writeSync(2, `${line}\n`)
  } catch {
    // Nobody reads it; the exit code says it too.
  }
}

/**
 * Gives up descriptors of a terminal that is gone. Node aborts when it cannot restore the settings of one at exit, and leaves
 * descriptors alone that were opened anew.
 */
function closeLostTerminal(): void {
  for (const descriptor of [0, 1, 2]) {
    try {
      if (isatty(descriptor) || !fstatSync(descriptor).isCharacterDevice()) continue
      closeSync(descriptor)
      // The lowest free one: the same again.
      openSync('/dev/null', 'r+')
    } catch {
      // It is closed, or there is no such device: nothing that Node would restore.
    }
  }
}
