import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Workspace } from './workspace.ts'

/** A server in its own process. */
export interface Server {
  url: string
  pid: number
  /** Path of its log, one JSON object per line. */
  log: string
  stop(): Promise<void>
}

/** The installed command. `npm run bench` starts in the package's folder. */
export const SVC = join(process.cwd(), 'bin', 'svc.js')

/**
 * Environment of the measured processes: without settings of svc, and without extra certificates, which slow down the
 * start.
 */
export function plainEnv(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _certificates, ...env } = process.env
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SVC_')))
}

/** Starts the server on a data directory, without rate limits by default. */
export const startService = (
  workspace: Workspace,
  dataDir: string,
  limits: 'on' | 'off' = 'off',
  env: NodeJS.ProcessEnv = {},
): Promise<Server> =>
  start(workspace, [SVC, 'serve', '--json', '--data-dir', dataDir, '--port', '0', '--log-format', 'json'], limits, env)

/** Starts the peer of `ping`: `bare-server.ts`. */
export const startBareServer = (workspace: Workspace): Promise<Server> =>
  start(workspace, [process.argv[1]!, '--bare-server'])

/** Starts a server that prints its URL in the first line, `{"url"}`. */
async function start(
  workspace: Workspace,
  args: string[],
  limits: 'on' | 'off' = 'off',
  env: NodeJS.ProcessEnv = {},
): Promise<Server> {
  const log = join(workspace.folder('log'), 'log.jsonl')
  const errors = openSync(log, 'w')
  const profiling = workspace.profiles ? ['--cpu-prof', `--cpu-prof-dir=${workspace.profiles}`] : []
  const child = spawn(process.execPath, [...profiling, ...args], {
    env: { ...plainEnv(), ...(limits === 'off' ? { SVC_LIMITS: 'off' } : {}), ...env },
    stdio: ['ignore', 'pipe', errors],
  })
  closeSync(errors)
  workspace.adopt(child)
  const exit = once(child, 'exit')
  const line = await Promise.race([
    once(createInterface(child.stdout!), 'line').then(([first]) => String(first)),
    exit.then(() => undefined),
  ])
  if (line === undefined) throw new Error(`The server did not start:\n${readFileSync(log, 'utf8')}`)
  const { url } = JSON.parse(line) as { url: string }
  return {
    url,
    pid: child.pid!,
    log,
    async stop() {
      child.kill('SIGTERM')
      await exit
    },
  }
}
