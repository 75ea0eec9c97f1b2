import { findAccount, openApi } from '../client/auth/credentials.ts'
import { environment } from '../wiring/config/environment.ts'
import { nouns } from './commands.ts'
import type { CommandSpec } from './command.ts'
import type { ExitGuard } from './exit-guard.ts'
import { exitCodeOf } from './exit.ts'
import { watchSignals } from './interruption.ts'
import { makeIo, type RunningIo } from './io.ts'
import { parseSimply, type ParsedCommand } from './simple-command-line.ts'

// What every command needs is imported here, and bundled into one file (bin/build.js).

interface Running {
  guard: ExitGuard
  /** Receives whether the command only prints: it then ends when the reader of its output goes away. */
  onParsed(onlyPrints: boolean): void
}

/** Runs the command of a command line, or prints its help. Returns the exit code. */
export async function runCommand(words: readonly string[], { guard, onParsed }: Running): Promise<number> {
  let io = await makeIo({ json: words.includes('--json'), color: !words.includes('--no-color') })
  let debug = words.includes('--debug')
  let isRunning = false
  try {
    const parsed = (await parseSimply(words, nouns)) ?? (await (await import('./program.ts')).parse(words, nouns))
    if (!parsed) return 0
    const { spec, args, flags, globals } = parsed
    onParsed(typeof spec.onlyPrints === 'function' ? spec.onlyPrints({ args, flags }) : spec.onlyPrints === true)
    debug = globals.debug
    io = await makeIo(globals)
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
      onCreated: (path: string) => {
        if (!io.json) io.info(`This created a new installation in ${path}. To name another one: --data-dir DIR.`)
      },
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
