import { rm } from 'node:fs/promises'
import type { Server, Socket } from 'node:net'
import { attemptAll } from '../base/attempts.ts'
import { DAY, MINUTE, systemClock, type Clock } from '../base/clock.ts'
import { writeDurably } from '../host/durable.ts'
import { UPKEEP_EVERY, variableOf, type OptionName } from '../domain/instance/instance.ts'
import type { Plan } from '../domain/seed/seed.ts'
import { makeApp } from '../http/app.ts'
import { isForPeople, makeLogger } from '../http/logger.ts'
import { machineOf } from './machine.ts'
import { desktopFolder } from './desktop-folder.ts'
import { environment } from './environment.ts'
import { makeEphemeralDirectory } from './ephemeral.ts'
import { openLocal, type Local, type LocalOptions } from './local.ts'
import { version } from './version.ts'
import { startScheduledBackups, type Program } from './scheduled-backups.ts'
import { PLACES } from './storage.ts'
import type { SeedOrigin } from './seed-file.ts'

export { isForPeople }

export interface ServeOptions {
  dataDir?: string | undefined
  flags?: Partial<Record<OptionName, string | undefined>>
  env?: NodeJS.ProcessEnv
  /** Starts afresh where an installation lost its database. */
  anew?: boolean
  /** A throw-away data directory, removed when the server closes. */
  ephemeral?: boolean
  /** Gets `{url, pid, version}` as JSON when requests are served, and what a seed made: `tokens`, `passwords`. */
  readyFile?: string | undefined
  /** A seed to be put into effect before requests are served. */
  seed?: SeedOrigin | undefined
  clock?: Clock
  /** The command that this program is, to make scheduled backups with; without one none are made. */
  program?: Program | undefined
  /** False for no log at all. */
  log?: boolean
  checkIntervalMs?: LocalOptions['checkIntervalMs']
  /** When the first upkeep begins, in milliseconds after the start. Tests that count commits put it off. */
  upkeepAfterMs?: number | undefined
}

export interface RunningServer {
  url: string
  local: Local
  /** Whether the log, and everything else on stderr, is lines for people; JSON lines otherwise. */
  logsForPeople: boolean
  /** What the seed did; undefined without one. */
  seeded: Seeded | undefined
  /** Resolves when the disk fails in a way that the server has to end for; the message says what to do. */
  failed: Promise<Error>
  /** Stops accepting, finishes requests (10 s at most), and lets go of everything. */
  close(): Promise<void>
}

/** What a seed came to, with the secrets that nobody can be told again. */
export interface Seeded extends Pick<Plan, 'items' | 'unchanged' | 'plainPasswords'> {
  /** By user name. */
  passwords: Record<string, string>
  /** Device tokens by user name, which end after a day; made only where there is a ready file for them. */
  tokens: Record<string, string>
}

/** What went wrong with listening, and what to do about it. */
function cannotListen(cause: unknown, url: string): unknown {
  const { code } = cause as NodeJS.ErrnoException
  const remedies: Record<string, string> = {
    EADDRINUSE: `${url} is taken by another program: stop it, or give another --port.`,
    EACCES: `${url} is not allowed to this user: give a --port from 1024 on.`,
    EADDRNOTAVAIL: `${url} is no address of this machine: give another --host.`,
  }
  const text = remedies[code ?? '']
  return text ? Object.assign(new Error(text, { cause }), { code }) : cause
}

/** How long requests in progress may take when the server stops. */
const GRACE_MS = 10_000
const SWEEP_MS = 100

const urlOf = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** The first upkeep waits until a server that has just started is no longer busy with all who come back to it. */
const UPKEEP_FIRST = 2 * MINUTE

/** Forgets what is past its retention, soon and then now and then. A failure is logged and tried again the next time. */
function startUpkeep(local: Local, afterMs: number, warn: (error: unknown) => void): () => void {
  const { accounts, instance } = local.domain
  const run = () => void attemptAll([accounts.finishRemovals, instance.upkeep]).catch(warn)
  const timers = [setTimeout(run, afterMs), setInterval(run, UPKEEP_EVERY)]
  for (const timer of timers) timer.unref()
  return () => timers.forEach((timer) => clearInterval(timer))
}

/**
 * Notes connections; the function it returns ends those on which nothing was ever asked. Node takes them for busy, and
 * browsers open some in advance.
 */
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

/** Starts the server. Throws when the port is taken or the data directory cannot be used. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { ephemeral = false, anew = false, clock = systemClock, flags = {}, checkIntervalMs } = options
  const temporary = ephemeral ? await makeEphemeralDirectory(clock) : undefined
  const dataDir = temporary?.path ?? options.dataDir
  const { env: given = environment } = options
  // A throw-away server has its rows and contents in its own folder, whatever the machine is set up for.
  const env = ephemeral ? { ...given, ...Object.fromEntries(PLACES.map((name) => [variableOf(name), ''])) } : given
  const removeTemporary = async () => temporary?.remove()
  try {
    const local = await openLocal({
      dataDir,
      env,
      flags,
      clock,
      operator: 'system',
      checkIntervalMs,
      anew,
      flush: 'background',
    })
    try {
      await local.domain.instance.check()
      const seeded = options.seed && (await sow(local, options.seed, options.readyFile !== undefined))
      return await listen(local, { ...options, clock }, seeded, removeTemporary)
    } catch (error) {
      await local.close()
      throw error
    }
  } catch (error) {
    await removeTemporary()
    throw error
  }
}

async function sow(local: Local, origin: SeedOrigin, withTokens: boolean): Promise<Seeded> {
  const { accounts, seeding } = local.domain
  const { planSeedFile } = await import('./seed-file.ts')
  const plan = await planSeedFile(seeding, origin)
  const passwords: Record<string, string> = {}
  await plan.apply({ made: ({ username, secret }) => void (passwords[username] = secret) })
  const tokens: Record<string, string> = {}
  for (const username of withTokens ? plan.tokens : []) {
    const { id } = await accounts.byName(username)
    tokens[username] = (await accounts.mintToken(id, { ttl: DAY, name: 'Seed' })).token
  }
  const { items, unchanged, plainPasswords } = plan
  return { items, unchanged, plainPasswords, passwords, tokens }
}

const readyDocument = (url: string, seeded: Seeded | undefined): string => {
  const made = seeded && { tokens: seeded.tokens, passwords: seeded.passwords }
  return `${JSON.stringify({ url, pid: process.pid, version, ...made })}\n`
}

async function listen(
  local: Local,
  { clock = systemClock, log = true, readyFile, program, upkeepAfterMs = UPKEEP_FIRST }: ServeOptions,
  seeded: Seeded | undefined,
  removeTemporary: () => Promise<unknown>,
): Promise<RunningServer> {
  const values = await local.domain.instance.settings.values()
  const app = await makeApp({
    domain: local.domain,
    clock,
    logger: log ? await makeLogger(values.log_level, values.log_format) : false,
    trustedProxies: values.trusted_proxies,
    metrics: values.metrics,
    desktopFolder: desktopFolder(),
    machine: machineOf(local),
  })
  const endSilent = watchConnections(app.server)
  await app.listen({ host: values.host, port: values.port }).catch((error: unknown) => {
    throw cannotListen(error, urlOf(values.host, values.port))
  })
  const address = app.server.address()
  const url = urlOf(values.host, typeof address === 'object' && address ? address.port : values.port)
  try {
    if (readyFile) await writeDurably(readyFile, readyDocument(url, seeded))
  } catch (error) {
    await app.close()
    throw error
  }
  local.onDatabaseMoved((moved) =>
    moved ? app.log.error({ err: moved }, moved.message) : app.log.info('the database is back in its place'),
  )
  const failed = new Promise<Error>((resolve) => {
    local.onDatabaseFailure((failure) => {
      app.log.fatal({ err: failure }, failure.message)
      resolve(failure)
    })
  })
  const resumed = local.domain.files
    .resume()
    .then(local.domain.accounts.finishRemovals)
    .catch((error: unknown) => app.log.error({ err: error as Error }, 'unfinished work failed'))
  const stopUpkeep = startUpkeep(local, upkeepAfterMs, (error) => {
    app.log.error({ err: error as Error }, 'upkeep failed')
  })
  local.domain.assistant.mentions.start((error) => app.log.error({ err: error as Error }, 'a mention failed'))
  const stopBackups = program ? startScheduledBackups(local, program, app.log) : () => Promise.resolve()

  return {
    url,
    local,
    logsForPeople: isForPeople(values.log_format),
    seeded,
    failed,
    async close() {
      stopUpkeep()
      const backupEnded = stopBackups()
      const mentionsEnded = local.domain.assistant.mentions.stop()
      // Requests that wait for news are answered at once; the rest get their time.
      local.domain.sync.close()
      local.domain.chat.close()
      endSilent()
      const cut = setTimeout(() => app.server.closeAllConnections(), GRACE_MS)
      // A request that is answered from now on leaves a connection behind that would be kept for the next one.
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
