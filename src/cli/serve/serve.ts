import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { iso } from '../../base/clock.ts'
import type { Local } from '../../wiring/local-domain.ts'
import type { Seeded } from '../../wiring/server.ts'
import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import { interruptible } from '../interruption.ts'
import type { Io } from '../io.ts'
import { seedSummary } from '../seed-summary.ts'
import { commandLine } from '../../base/shell-words.ts'

/**
 * Growth of the heap between two collections, percent of what is in use. V8 would let a heap of this size grow fourfold, so most of a busy
 * server's memory would be garbage.
 */
const HEAP_GROWTH = 60

export const serve = command({
  name: 'serve',
  summary: 'Run the server',
  details: `Everything is stored in one data directory: an SQLite database, the contents of files, keys and config.json.
With --seed the ready file also contains the generated "passwords", and "tokens" of the users with token: true.
Options override the environment (SVC_HOST, SVC_PORT, SVC_PUBLIC_URL, …), which overrides config.json.`,
  needs: 'nothing',
  args: {},
  flags: {
    host: flag.text('address to listen on (127.0.0.1)', 'ADDRESS'),
    port: flag.text('port to listen on (8420); 0 chooses a free one', 'PORT'),
    publicUrl: flag.text('URL under which users reach the service', 'URL'),
    readyFile: flag.text('write {"url","pid","version"} to this file when requests are served', 'FILE'),
    seed: flag.text('apply a seed before requests are served (svc seed --help)', 'FILE'),
    new: flag.switch('start over if the database is lost; what is left of it is moved aside'),
    existing: flag.switch('refuse to create a data directory, for services whose disk may not be mounted'),
    ephemeral: flag.switch('use a temporary data directory and remove it at the end'),
    logFormat: flag.choice('format of the log', 'FORMAT', ['auto', 'json', 'pretty']),
    logLevel: flag.choice('minimum level of the log', 'LEVEL', ['debug', 'info', 'warn', 'error', 'silent']),
  },
  examples: [
    'svc serve',
    'svc serve --host 0.0.0.0 --public-url https://cloud.example.org',
    'svc serve --ephemeral --port 0 --seed ci.yaml --ready-file ready.json',
  ],
  async run({ io, globals, flags }) {
    setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`)
    const { isForPeople, serve: start } = await import('../../wiring/server.ts')
    const { logFormatBefore } = await import('../../wiring/config/log-format.ts')
    const { dataDir, env } = globals
    if (flags.existing) {
      if (flags.ephemeral || flags.new) throw usage('--existing goes with neither --ephemeral nor --new.')
      const [{ dataDirectoryPath }, { assertInstalled }] = await Promise.all([
        import('../../wiring/installation/data-directory.ts'),
        import('../../wiring/installation/installation-check.ts'),
      ])
      await assertInstalled(dataDirectoryPath(dataDir, env), env)
    }
    const place = flags.ephemeral ? undefined : { dataDir }
    if (!isForPeople(await logFormatBefore(place, flags.logFormat, env))) io.logAsJson()
    const ended = () => new Exit(0, 'Stopped.', 'stopped')
    await interruptible(
      ended,
      async (signal) => {
        const secrets = new Map<string, string>()
        const hasFile = flags.readyFile !== undefined
        const server = await start({
          dataDir: globals.dataDir,
          flags: {
            host: flags.host,
            port: flags.port,
            public_url: flags.publicUrl,
            log_format: flags.logFormat,
            log_level: flags.logLevel,
          },
          startsOver: flags.new,
          ephemeral: flags.ephemeral,
          program: flags.ephemeral
            ? undefined
            : { command: process.execPath, args: [process.argv[1]!], env: globals.env },
          readyFile: flags.readyFile,
          seed: flags.seed === undefined ? undefined : { file: flags.seed, input: io.input() },
          onPassword: (username, password) =>
            hasFile ? void secrets.set(username, password) : printPassword(io, username, password),
        }).catch((error: unknown) => {
          // The accounts stay, and the file that would have the passwords is missing.
          if (!flags.ephemeral) for (const [username, password] of secrets) printPassword(io, username, password)
          throw error
        })
        const { url, local, seeded, logsForPeople } = server
        if (!logsForPeople) io.logAsJson()
        if (seeded) printSeeded(io, seeded)
        io.event(`svc is ready at ${url}`, {
          event: 'ready',
          url,
          pid: process.pid,
          version: local.domain.instance.version,
        })
        await offerSetup(io, local, url, flags.ephemeral ? local.directory.path : globals.dataDir)
        const failure = signal.aborted ? undefined : await Promise.race([once(signal, 'abort'), server.failed])
        if (failure instanceof Error) throw failure
        io.info('Stopping: waiting for requests in progress.')
        await server.close()
      },
      // SIGQUIT would leave the directory of a temporary server behind.
      ['SIGQUIT'],
    )
  },
})

function printSeeded(io: Io, { items, unchanged, plainPasswords }: Seeded): void {
  if (plainPasswords > 0) io.warn('The seed contains passwords in plain text: keep it secret.')
  if (!io.json) io.info(seedSummary(items, unchanged))
}

const printPassword = (io: Io, username: string, password: string): void =>
  io.eventAlways(`Password of ${username}, not shown again: ${password}`, { event: 'password', username, password })

/** Without an administrator: prints how to create one. The link is secret, valid for half an hour and only once. */
async function offerSetup(io: Io, { domain }: Local, url: string, dataDir: string | undefined): Promise<void> {
  const offered = await domain.accounts.setup.offer()
  if (!offered) return
  const { public_url } = await domain.instance.settings.values()
  const link = `${public_url || url}/setup?token=${offered.token}`
  if (io.json) io.event('', { event: 'setup', setup_url: link, expires_at: iso(offered.expires_at) })
  else
    io.info(
      `There is no administrator yet. Create one within half an hour at\n\n    ${link}\n\nor in another terminal:\n\n    ${commandLine({ dataDir }, ['user', 'add', 'NAME', '--role', 'admin'])}\n    svc login ${public_url || url}\n`,
      {
        msg: 'There is no administrator yet: the link creates one, once.',
        setup_url: link,
        expires_at: iso(offered.expires_at),
      },
    )
}
