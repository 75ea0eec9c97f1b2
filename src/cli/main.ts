import { isTopic } from '../base/help-topics.ts'
import { guardExit } from './exit-guard.ts'

// Help and version load nothing else. Everything that a command needs is loaded when it runs.

const argv = process.argv.slice(2)
const guard = guardExit(argv.includes('--json'))

/** Whether the command only prints: it then ends when the reader of its output goes away. */
let onlyPrints = true
/** Why writing standard output failed, other than EPIPE (`| head`). */
let outputError: NodeJS.ErrnoException | undefined

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  const isReaderGone = error.code === 'EPIPE' || error.code === 'ECONNRESET' || process.stdout.isTTY
  if (!isReaderGone && !outputError) {
    outputError = error
    process.stderr.write(`svc: Standard output cannot be written: ${error.message}.\n`)
  }
  if (onlyPrints) guard.end(isReaderGone ? 0 : 1)
})
// A command finishes its work even if nobody reads its messages.
process.stderr.on('error', () => undefined)

const code = await main().catch((error: NodeJS.ErrnoException) => {
  const failed = guard.reportTooManyFiles(error)
  if (failed === undefined) throw error
  return failed
})
// Node emits the error of the last write in the next turn of the event loop.
await new Promise(setImmediate)
guard.finish(outputError && (code === 0 || code === 3) ? 1 : code)

async function main(): Promise<number> {
  const [first, ...rest] = argv
  if (first === undefined || first === '-h' || first === '--help' || (first === 'help' && rest.length === 0)) {
    const { overview } = await import('./help.ts')
    process.stdout.write(overview())
    return 0
  }
  if (first === '-V' || first === '--version') {
    process.stdout.write(`${__SVC_VERSION__}\n`)
    return 0
  }
  if (first === 'help' && rest[0] === 'exit-codes') {
    const { exitCodeTable } = await import('./help.ts')
    process.stdout.write(exitCodeTable())
    return 0
  }
  if (first === 'help' && isTopic(rest[0])) {
    const [{ makeIo }, { printTopic }] = await Promise.all([import('./io.ts'), import('./topic.ts')])
    const io = await makeIo({ json: rest.includes('--json'), color: !rest.includes('--no-color') })
    await printTopic(rest[0], io)
    await io.flush()
    return 0
  }
  const { runCommand } = await import('./command-runner.ts')
  return runCommand(first === 'help' ? [...rest, '--help'] : argv, {
    guard,
    onParsed: (prints) => void (onlyPrints = prints),
  })
}

declare const __SVC_VERSION__: string
