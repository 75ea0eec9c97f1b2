import { printable } from '../base/text.ts'
import { environment } from '../wiring/environment.ts'
import { nouns } from './commands.ts'
import type { CommandSpec } from './command.ts'
import type { RunningIo } from './io.ts'
import type { Chosen } from './program.ts'

// Loads as little as possible before it knows what to do: help and version answer at once, everything else on demand.

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads has seen enough (`| head`).
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

process.exitCode = await main(process.argv.slice(2))

async function main(argv: string[]): Promise<number> {
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
  return runCommand(first === 'help' ? [...rest, '--help'] : argv)
}

async function runCommand(argv: string[]): Promise<number> {
  const [{ makeIo }, { parse }, { exitCodeOf }] = await Promise.all([
    import('./io.ts'),
    import('./program.ts'),
    import('./exit.ts'),
  ])
  let io = makeIo({ json: argv.includes('--json'), color: !argv.includes('--no-color') })
  let debug = argv.includes('--debug')
  try {
    const chosen = await parse(argv, nouns)
    if (!chosen) return 0
    const { json, color } = chosen.globals
    debug = chosen.globals.debug
    io = makeIo({ json, color })
    const code = await runWith(io, chosen)
    await io.flush()
    return code ?? 0
  } catch (error) {
    await io.flush()
    const code = exitCodeOf(error)
    const reason =
      (error as { reason?: string; code?: unknown }).reason ?? (error as { code?: unknown }).code ?? 'failed'
    const { detailOf, sentenceOf } = await import('./sentence.ts')
    const message = sentenceOf(error)
    if (io.json)
      process.stderr.write(
        `${JSON.stringify({ error: message, code: String(reason), exit_code: code, ...detailOf(error) })}\n`,
      )
    else io.note(`svc: ${message.split('\n').map(printable).join('\n')}`)
    if (debug && error instanceof Error) io.note(error.stack ?? '')
    await io.flush()
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
    const { assertInstalled, dataDirectoryPath } = await import('../wiring/data-directory.ts')
    await assertInstalled(dataDirectoryPath(globals.dataDir, environment), environment)
  }
  if (needs === 'domain') {
    const { openLocal } = await import('../wiring/local.ts')
    const local = await openLocal({ dataDir: globals.dataDir })
    try {
      return await spec.run({ ...context, domain: local.domain, config: local.config, directory: local.directory })
    } finally {
      await local.close()
    }
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
