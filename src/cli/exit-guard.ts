import { closeSync, fstatSync, openSync, statSync, writeSync } from 'node:fs'

/** EX_SOFTWARE of sysexits(3). */
const UNFINISHED = 70
const INTERRUPTED = 130

const MESSAGE =
  'The command ended before its work was done. This is a bug in svc; how far it came is unknown. ' +
  'What was done stays done; run it again.'

const NO_DESCRIPTORS = new Set(['EMFILE', 'ENFILE'])
const TOO_MANY_FILES = 'Too many files are open. Raise the limit (ulimit -n 1024), and run this again.'

export interface ExitGuard {
  /** Reports an error for want of file descriptors and returns the exit code; undefined for other errors. It loads no code. */
  reportTooManyFiles(error: NodeJS.ErrnoException): number | undefined
  /** Marks the work as done: the process exits with this code when nothing is pending. */
  finish(code: number): void
  end(code: number): never
}

/**
 * Keeps an exit before `finish` from looking like success: when the event loop ran empty, or a library calls
 * `process.exit`. Must run before any library is loaded: libraries wrap `process.reallyExit`, and the first wrapper
 * runs last.
 */
export function guardExit(isJson: boolean): ExitGuard {
  // Undocumented; Node keeps it for wrappers such as signal-exit.
  const nodeProcess = process as NodeJS.Process & { reallyExit(code: number): never }
  const reallyExit = nodeProcess.reallyExit.bind(process)
  let finished: number | undefined

  const report = (error: string, code: string, exit_code: number) =>
    writeError(isJson ? JSON.stringify({ error, code, exit_code }) : `svc: ${error}`)

  function reportTooManyFiles({ code = '' }: NodeJS.ErrnoException): number | undefined {
    if (!NO_DESCRIPTORS.has(code)) return undefined
    report(TOO_MANY_FILES, code, 1)
    return 1
  }

  nodeProcess.reallyExit = () => {
    closeLostTerminal()
    if (finished !== undefined) return reallyExit(finished)
    report(MESSAGE, 'unfinished', UNFINISHED)
    return reallyExit(UNFINISHED)
  }
  // An empty event loop exits without `reallyExit`; `process.exit` calls it.
  process.once('beforeExit', () => process.exit(finished ?? UNFINISHED))
  // An `exit` handler can turn the code of an uncaught exception into 0.
  process.once('uncaughtException', (error: NodeJS.ErrnoException) => {
    finished = isLostTerminal(error) ? INTERRUPTED : undefined
    finished ??= reportTooManyFiles(error)
    if (finished === undefined) writeError(error.stack ?? error.message)
    process.exit(UNFINISHED)
  })

  return {
    reportTooManyFiles,
    finish: (code) => void (finished = code),
    end(code) {
      finished = code
      process.exit(code)
    },
  }
}

/** readline cannot restore a terminal that is gone, and throws where nothing can catch it. */
const isLostTerminal = ({ code, syscall }: NodeJS.ErrnoException): boolean => code === 'EIO' && syscall === 'setRawMode'

function writeError(line: string): void {
  try {
    writeSync(2, `${line}\n`)
  } catch {
    // Nobody reads standard error; the exit code remains.
  }
}

/**
 * Closes descriptors of a terminal that is gone. Node aborts when it cannot restore the settings of one at exit, but
 * ignores descriptors that were opened again.
 */
function closeLostTerminal(): void {
  for (const descriptor of [0, 1, 2]) {
    try {
      const stats = fstatSync(descriptor)
      if (!stats.isCharacterDevice() || stats.rdev === statSync('/dev/null').rdev) continue
      // Loading it takes time, and most commands do not use it.
      if (process.getBuiltinModule('node:tty').isatty(descriptor)) continue
      closeSync(descriptor)
      // Opens the lowest free descriptor: the one just closed.
      openSync('/dev/null', 'r+')
    } catch {
      // The descriptor is closed, or there is no such device: Node has nothing to restore.
    }
  }
}
