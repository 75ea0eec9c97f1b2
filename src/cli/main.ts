import { isTopic } from '../base/help-topics.ts'
import { environment } from '../wiring/config/environment.ts'
import { nouns } from './commands.ts'
import type { CommandSpec } from './command.ts'
import { guardExit } from './exit-guard.ts'
import type { RunningIo } from './io.ts'
import type { ParsedCommand } from './program.ts'

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
    const io = makeIo({ json: rest.includes('--json'), color: !rest.includes('--no-color') })
    await printTopic(rest[0], io)
    await io.flush()
    return 0
  }
  return runCommand(first === 'help' ? [...rest, '--help'] : argv)
}

async function runCommand(words: string[]): Promise<number> {
  const [{ makeIo }, { parse }, { exitCodeOf }, { watchSignals }] = await Promise.all([
    import('./io.ts'),
    import('./program.ts'),
    import('./exit.ts'),
    import('./interruption.ts'),
  ])
  let io = makeIo({ json: words.includes('--json'), color: !words.includes('--no-color') })
  let debug = words.includes('--debug')
  let isRunning = false
  try {
    const parsed = await parse(words, nouns)
    if (!parsed) return 0
    const { spec, args, flags, globals } = parsed
    onlyPrints = typeof spec.onlyPrints === 'function' ? spec.onlyPrints({ args, flags }) : spec.onlyPrints === true
    debug = globals.debug
    io = makeIo(globals)
    if (globals.quiet) (await import('./progress.ts')).hideProgress()
    isRunning = true
    const running = runWith(io, parsed).finally(() => (isRunning = false))
    const code = await Promise.race([running, watchSignals()])
    await io.flush()
    return code ?? 0
  } catch (error) {
    await io.flush()
    const code = exitCodeOf(error)
    const reason =
      (error as { reason?: string; code?: unknown }).reason ?? (error as { code?: unknown }).code ?? 'failed'
    if (isRunning && process.stderr.isTTY) process.stderr.write('\r\u001b[K')
    const { errorDetails, errorMessage } = await import('./error-message.ts')
    const fields = { code: String(reason), exit_code: code, ...errorDetails(error) }
    io.error(errorMessage(error), fields, debug && error instanceof Error ? error.stack : undefined)
    await io.flush()
    // Pending work would keep the process alive.
    if (isRunning) guard.end(code)
    return code
  }
}

async function needsOf({ needs, asAdministrator }: CommandSpec, { flags, globals }: ParsedCommand) {
  if (needs !== 'either') return needs
  const { modeOf } = await import('./mode.ts')
  return modeOf(asAdministrator?.(flags) === true, globals)
}

/** Opens what the command needs, runs it, and closes everything again. */
async function runWith(io: RunningIo, parsed: ParsedCommand) {
  const { spec, args, flags, globals } = parsed
  const needs = await needsOf(spec, parsed)
  const context = { io, args, flags, globals } as never as Parameters<CommandSpec['run']>[0]
  if ((needs === 'domain' || needs === 'backup') && !spec.createsDataDirectory) {
    const [{ dataDirectoryPath }, { assertInstalled }] = await Promise.all([
      import('../wiring/installation/data-directory.ts'),
      import('../wiring/installation/installation-check.ts'),
    ])
    await assertInstalled(dataDirectoryPath(globals.dataDir, environment), environment)
  }
  if (needs === 'domain') {
    const { onInstallation } = await import('../wiring/command-installation.ts')
    const options = {
      dataDir: globals.dataDir,
      create: spec.createsDataDirectory === true,
      dryRun: flags['dryRun'] === true || flags['schema'] === true,
      startsOver: spec.createsDataDirectory === true && flags['new'] === true,
    }
    return onInstallation(options, ({ domain, config, directory }) =>
      spec.run({ ...context, domain, config, directory }),
    )
  }
  if (needs === 'backup') {
    const { openBackupContext } = await import('../wiring/backups/backup-context.ts')
    const { close, ...opened } = await openBackupContext(globals.dataDir)
    try {
      return await spec.run({ ...context, ...opened })
    } finally {
      await close()
    }
  }
  if (needs === 'server') {
    const { findAccount, openApi } = await import('../client/auth/credentials.ts')
    const account = await findAccount({ env: environment, profile: globals.profile })
    const api = openApi(account)
    try {
      return await spec.run({ ...context, api, account })
    } finally {
      api.close()
    }
  }
  return spec.run(needs === 'commands' ? { ...context, nouns } : context)
}

declare const __SVC_VERSION__: string
