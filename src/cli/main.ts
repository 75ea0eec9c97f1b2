import { isTopic } from '../base/topics.ts'
import { environment } from '../wiring/environment.ts'
import { nouns } from './commands.ts'
import type { CommandSpec } from './command.ts'
import { guardExit } from './exit-guard.ts'
import type { RunningIo } from './io.ts'
import type { Chosen } from './program.ts'

// Loads as little as possible before it knows what to do: help and version answer at once, everything else on demand.

const argv = process.argv.slice(2)
const guard = guardExit(argv.includes('--json'))

/** Whether the command only prints: then it ends when nobody reads any more. */
let onlyPrints = true
/** Why standard output could not be written; a reader that went away (`| head`) is no such reason. */
let outputError: NodeJS.ErrnoException | undefined

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  const isReaderGone = error.code === 'EPIPE' || error.code === 'ECONNRESET' || process.stdout.isTTY
  if (!isReaderGone && !outputError) {
    outputError = error
    process.stderr.write(`svc: Standard output cannot be written: ${error.message}.\n`)
  }
  if (onlyPrints) guard.end(isReaderGone ? 0 : 1)
})
// What a command does matters more than that nobody reads its remarks.
process.stderr.on('error', () => undefined)

const code = await main()
// The failure of the last write is told in the next turn.
await new Promise(setImmediate)
guard.finish(outputError && code === 0 ? 1 : code)

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
    const chosen = await parse(words, nouns)
    if (!chosen) return 0
    const { spec, args, flags, globals } = chosen
    onlyPrints = typeof spec.onlyPrints === 'function' ? spec.onlyPrints({ args, flags }) : spec.onlyPrints === true
    debug = globals.debug
    io = makeIo(globals)
    if (globals.quiet) (await import('./progress.ts')).hideProgress()
    isRunning = true
    const running = runWith(io, chosen).finally(() => (isRunning = false))
    const code = await Promise.race([running, watchSignals()])
    await io.flush()
    return code ?? 0
  } catch (error) {
    await io.flush()
    const code = exitCodeOf(error)
    const reason =
      (error as { reason?: string; code?: unknown }).reason ?? (error as { code?: unknown }).code ?? 'failed'
    // A line of progress may stand there.
    if (isRunning && process.stderr.isTTY) process.stderr.write('\r\u001b[K')
    const { detailOf, sentenceOf } = await import('./sentence.ts')
    const fields = { code: String(reason), exit_code: code, ...detailOf(error) }
    io.error(sentenceOf(error), fields, debug && error instanceof Error ? error.stack : undefined)
    await io.flush()
    // Interrupted at once: what is still under way would keep the process.
    if (isRunning) guard.end(code)
    return code
  }
}

async function faceOf({ asAdministrator }: CommandSpec, { flags, globals }: Pick<Chosen, 'flags' | 'globals'>) {
  const { faceOf: choose } = await import('./face.ts')
  return choose(asAdministrator?.(flags) === true, globals)
}

/** Opens what the command needs, runs it, and closes it again whatever happens. */
async function runWith(io: RunningIo, { spec, args, flags, globals }: Chosen) {
  const needs = spec.needs === 'either' ? await faceOf(spec, { flags, globals }) : spec.needs
  const context = { io, args, flags, globals } as never as Parameters<CommandSpec['run']>[0]
  if ((needs === 'domain' || needs === 'backing') && !spec.makesDataDirectory) {
    const [{ dataDirectoryPath }, { assertInstalled }] = await Promise.all([
      import('../wiring/data-directory.ts'),
      import('../wiring/installed.ts'),
    ])
    await assertInstalled(dataDirectoryPath(globals.dataDir, environment), environment)
  }
  if (needs === 'domain') {
    const { onInstallation } = await import('../wiring/on-installation.ts')
    const wish = {
      dataDir: globals.dataDir,
      create: spec.makesDataDirectory === true,
      dryRun: flags['dryRun'] === true || flags['schema'] === true,
      anew: spec.makesDataDirectory === true && flags['new'] === true,
    }
    return onInstallation(wish, ({ domain, config, directory }) => spec.run({ ...context, domain, config, directory }))
  }
  if (needs === 'backing') {
    const { openBacking } = await import('../wiring/backing-up.ts')
    const { close, ...backing } = await openBacking(globals.dataDir)
    try {
      return await spec.run({ ...context, ...backing })
    } finally {
      await close()
    }
  }
  if (needs === 'server') {
    const { findAccount, openApi } = await import('../client/credentials.ts')
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
