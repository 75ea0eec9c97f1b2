import { rm } from 'node:fs/promises'
import type { Server, Socket } from 'node:net'
import { attemptAll } from '../base/attempts.ts'
import { Busy } from '../base/errors.ts'
import { httpUrl } from '../base/http-url.ts'
import { DAY, iso, MINUTE, systemClock, type Clock } from '../base/clock.ts'
import { writeDurably } from '../host/durable-files.ts'
import { makeLockedFolder } from '../host/temporary-folder.ts'
import { UNNAMED_ACTORS, UPKEEP_EVERY, variableOf, type OptionName } from '../domain/instance/instance.ts'
import type { Plan } from '../domain/seed/seed.ts'
import { makeApp } from '../http/app.ts'
import { isForPeople, makeLogger } from '../http/logger.ts'
import { hostStatusOf } from './doctor/machine-report.ts'
import { claimDirectory } from './installation/directory-claim.ts'
import { desktopFolder } from './desktop-folder.ts'
import { environment } from './config/environment.ts'
import { openLocal, type Local, type LocalOptions } from './local-domain.ts'
import { version } from './config/version.ts'
import { makeBackupCommands } from './backups/backup-commands.ts'
import { startScheduledBackups, type Log, type Program } from './backups/scheduled-backups.ts'
import { PLACES } from './installation/storage.ts'
import type { SeedOrigin } from './seed/seed-file.ts'

export { isForPeople }

export interface ServeOptions {
  dataDir?: string | undefined
  flags?: Partial<Record<OptionName, string | undefined>>
  env?: NodeJS.ProcessEnv
  /** Start over after a lost database. */
  startsOver?: boolean
  /** Use a temporary data directory, removed when the server closes. */
  ephemeral?: boolean
  /** Receives `{url, pid, version}` as JSON when requests are served, and `tokens` and `passwords` of a seed. */
  readyFile?: string | undefined
  /** A seed to apply before requests are served. */
  seed?: SeedOrigin | undefined
  /** Receives each password that the seed generates, as soon as it is set: a failure later would lose it. */
  onPassword?: ((username: string, password: string) => void) | undefined
  clock?: Clock
  /** The command of this program, for scheduled backups; without it none are made. */
  program?: Program | undefined
  log?: boolean
  checkIntervalMs?: LocalOptions['checkIntervalMs']
  /** Delay of the first upkeep after the start, in milliseconds. Tests that count commits increase it. */
  upkeepAfterMs?: number | undefined
  /** The same for the search index. */
  indexAfterMs?: number | undefined
}

export interface RunningServer {
  url: string
  local: Local
  /** Whether the log and other output to stderr is text for people; otherwise JSON lines. */
  logsForPeople: boolean
  /** What the seed did; undefined without one. */
  seeded: Seeded | undefined
  /** Resolves when a disk error forces the server to stop; the message says what to do. */
  failed: Promise<Error>
  /** Stops accepting, finishes requests (10 s at most) and closes everything. */
  close(): Promise<void>
}

/** The result of a seed, with secrets that cannot be shown again. */
export interface Seeded extends Pick<Plan, 'items' | 'unchanged' | 'plainPasswords'> {
  passwords: Record<string, string>
  /** Device tokens by user name, valid for a day; made only with a ready file. */
  tokens: Record<string, string>
}

/** Turns a listen error into one that says what to do. */
function cannotListen(cause: unknown, url: string): unknown {
  const { code } = cause as NodeJS.ErrnoException
  const remedies: Record<string, string> = {
    EADDRINUSE: `${url} is taken by another program: stop it, or give another --port.`,
    EACCES: `This user may not listen on ${url}: give a --port from 1024 on.`,
    EADDRNOTAVAIL: `${url} is not an address of this machine: give another --host.`,
  }
  const text = remedies[code ?? '']
  return text ? Object.assign(new Error(text, { cause }), { code }) : cause
}

/** How long requests in progress may take when the server stops. */
const GRACE_MS = 10_000
const SWEEP_MS = 100

/** The first upkeep waits until clients have reconnected after a start. */
const UPKEEP_FIRST = 2 * MINUTE

/** Runs upkeep soon after the start and then at intervals. An error is logged, and the next time tries again. */
function startUpkeep(local: Local, afterMs: number, log: Log): () => void {
  const { accounts, chat, instance } = local.domain
  async function upkeep(): Promise<void> {
    const { postponed } = await instance.upkeep()
    if (!postponed) return
    const [before, after, until] = [postponed.before, postponed.after, postponed.until].map(iso)
    log.warn({ before, after, until }, 'the clock may be wrong: nothing old is removed until then')
  }
  const run = () =>
    void attemptAll([accounts.finishRemovals, chat.finishRemovals, upkeep]).catch((error: unknown) =>
      log.error({ err: error as Error }, 'upkeep failed'),
    )
  const timers = [setTimeout(run, afterMs), setInterval(run, UPKEEP_EVERY)]
  for (const timer of timers) timer.unref()
  return () => timers.forEach((timer) => clearInterval(timer))
}

/** Returns a function that closes connections without a request: Node counts them as busy, browsers open some in advance. */
function watchConnections(server: Server): () => void {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  }
}

const WITHOUT_STORE = 'Until it does, large files can neither be read nor sent.'

/** Checks database and store. A failure that passes is returned: without its store, a server answers everything else. */
async function checkPlaces({ domain }: Local): Promise<Busy | undefined> {
  await domain.instance.checkDatabase()
  try {
    await domain.instance.checkContents()
    return undefined
  } catch (error) {
    if (error instanceof Busy) return error
    throw error
  }
}

/** Starts the server. Throws if the port is taken or the data directory cannot be used. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { ephemeral = false, startsOver = false, clock = systemClock, flags = {}, checkIntervalMs } = options
  const temporary = ephemeral ? await makeLockedFolder('svc-ephemeral-') : undefined
  const dataDir = temporary?.path ?? options.dataDir
  const { env: given = environment } = options
  // A temporary server keeps rows and contents in its own folder, whatever the configuration of the machine.
  const env = ephemeral ? { ...given, ...Object.fromEntries(PLACES.map((name) => [variableOf(name), ''])) } : given
  const removeTemporary = async () => temporary?.remove()
  try {
    const local = await openLocal({
      dataDir,
      env,
      flags,
      clock,
      operator: UNNAMED_ACTORS.server,
      checkIntervalMs,
      startsOver,
      flush: 'background',
    })
    try {
      const unreachable = await checkPlaces(local)
      const applied = options.seed && (await applySeed(local, options.seed, options.onPassword))
      return await listen(local, { ...options, clock }, applied, { unreachable, removeTemporary })
    } catch (error) {
      await local.close()
      throw error
    }
  } catch (error) {
    await removeTemporary()
    throw error
  }
}

/** What a seed did, and who gets a token when the server is ready. */
interface Applied {
  seeded: Seeded
  tokensFor: readonly string[]
}

async function applySeed(
  { domain }: Local,
  origin: SeedOrigin,
  onPassword: ServeOptions['onPassword'],
): Promise<Applied> {
  const { planSeedFile } = await import('./seed/seed-file.ts')
  const plan = await planSeedFile(domain.seeding, origin)
  const passwords: Record<string, string> = {}
  await plan.apply({
    made({ username, secret }) {
      passwords[username] = secret
      onPassword?.(username, secret)
    },
  })
  const { items, unchanged, plainPasswords, tokens } = plan
  return { seeded: { items, unchanged, plainPasswords, passwords, tokens: {} }, tokensFor: tokens }
}

/** Tokens of earlier starts that stay: a server that is restarted again and again must not use up the tokens of a user. */
const SEED_TOKENS = 20

/** Tells the caller that requests are served, with the tokens of a seed. */
async function writeReadyFile(
  { domain: { accounts } }: Local,
  { file, url }: { file: string; url: string },
  applied: Applied | undefined,
): Promise<void> {
  for (const username of applied?.tokensFor ?? []) {
    const { id } = await accounts.byName(username)
    const { token } = await accounts.mintToken(id, { ttl: DAY, name: 'Seed', keep: SEED_TOKENS })
    applied!.seeded.tokens[username] = token
  }
  const made = applied && { tokens: applied.seeded.tokens, passwords: applied.seeded.passwords }
  await writeDurably(file, `${JSON.stringify({ url, pid: process.pid, version, ...made })}\n`)
}

const databaseFailure = (local: Local, log: { fatal(fields: object, message: string): void }): Promise<Error> =>
  new Promise((resolve) => {
    local.onDatabaseFailure((failure) => {
      log.fatal({ err: failure }, failure.message)
      resolve(failure)
    })
  })

async function listen(
  local: Local,
  { clock = systemClock, log = true, readyFile, program, upkeepAfterMs = UPKEEP_FIRST, indexAfterMs = 0 }: ServeOptions,
  applied: Applied | undefined,
  { unreachable, removeTemporary }: { unreachable: Busy | undefined; removeTemporary: () => Promise<unknown> },
): Promise<RunningServer> {
  const values = await local.domain.instance.settings.values()
  const backupCommands = makeBackupCommands(local, program)
  const app = await makeApp({
    domain: local.domain,
    clock,
    logger: log ? await makeLogger(values.log_level, values.log_format) : false,
    trustedProxies: values.trusted_proxies,
    metrics: values.metrics,
    desktopFolder: desktopFolder(),
    machine: { ...hostStatusOf(local), startBackupJob: backupCommands.start },
  })
  backupCommands.logTo(app.log)
  const endSilent = watchConnections(app.server)
  await app.listen({ host: values.host, port: values.port }).catch((error: unknown) => {
    throw cannotListen(error, httpUrl(values.host, values.port))
  })
  const address = app.server.address()
  const url = httpUrl(values.host, typeof address === 'object' && address ? address.port : values.port)
  try {
    if (readyFile) await writeReadyFile(local, { file: readyFile, url }, applied)
  } catch (error) {
    await app.close()
    throw error
  }
  if (unreachable) app.log.error({ err: unreachable }, `${unreachable.message} ${WITHOUT_STORE}`)
  local.onDatabaseMoved((moved) =>
    moved ? app.log.error({ err: moved }, moved.message) : app.log.info('the database is back in its place'),
  )
  const failed = databaseFailure(local, app.log)
  const release = claimDirectory(local.directory, app.log)
  const resumed = local.domain.files
    .resume()
    .then(local.domain.accounts.finishRemovals)
    .then(local.domain.chat.finishRemovals)
    .catch((error: unknown) => app.log.error({ err: error as Error }, 'unfinished work failed'))
  const stopUpkeep = startUpkeep(local, upkeepAfterMs, app.log)
  local.domain.assistant.mentions.start((error) => app.log.error({ err: error as Error }, 'a mention failed'))
  local.domain.search.start(indexAfterMs, (error) =>
    app.log.error({ err: error }, 'the search index could not be updated'),
  )
  const stopBackups = program ? startScheduledBackups(local, program, app.log) : () => Promise.resolve()

  return {
    url,
    local,
    logsForPeople: isForPeople(values.log_format),
    seeded: applied?.seeded,
    failed,
    async close() {
      stopUpkeep()
      release()
      const backupEnded = Promise.all([stopBackups(), backupCommands.close()])
      const mentionsEnded = local.domain.assistant.mentions.stop()
      // Long polls are answered at once; other requests get their time.
      local.domain.sync.close()
      local.domain.chat.close()
      endSilent()
      const cut = setTimeout(() => app.server.closeAllConnections(), GRACE_MS)
      // A request answered from now on would leave a keep-alive connection behind.
      const sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS)
      await app.close()
      clearTimeout(cut)
      clearInterval(sweep)
      await backupEnded
      await mentionsEnded
      await local.domain.files.close()
      await resumed
      await local.close()
      if (readyFile) await rm(readyFile, { force: true })
      await removeTemporary()
    },
  }
}
