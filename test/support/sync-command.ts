import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import type { Ended } from './command.ts'
import { runWarm } from './warm-command.ts'

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))
const PASSWORD = 'analytical engine'

/** Removes the capabilities of root that override permissions (capabilities(7)); setpriv is part of util-linux. */
const CONFINED = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search', '--'] : []

/** Startup timeout of a server on a busy machine, ms. */
const START = 60_000

interface StartOptions {
  stdin?: string
  cwd?: string
  env?: NodeJS.ProcessEnv
  /** Whether file permissions apply to the command, as they do not for root. */
  confined?: boolean
}

export interface SyncCommand {
  /** The folder of the tests of this file. */
  place: string
  /** The home of the synchronising user. */
  home: string
  url: string
  environment(): NodeJS.ProcessEnv
  start(args: string[], options?: StartOptions): { child: ChildProcessWithoutNullStreams; ended: Promise<Ended> }
  /** Runs a command to its end, in a shared process unless permissions must apply. */
  svc(args: string[], options?: StartOptions): Promise<Ended>
  /** Runs a command that must succeed. */
  ok(args: string[], options?: StartOptions): Promise<Ended>
  /** A signed-in account with `count` empty synchronised folders. */
  folders(count: number): Promise<{ profile: string; roots: string[] }>
}

/** The built command with a server shared by the tests of a file; the fields are available in tests and hooks. */
export function useSyncCommand(): SyncCommand {
  let server: ChildProcess
  let users = 0

  const command: SyncCommand = {
    place: '',
    home: '',
    url: '',
    environment: () => ({
      PATH: process.env['PATH'],
      HOME: command.home,
      SVC_DATA_DIR: join(command.place, 'data'),
      SVC_LIMITS: 'off',
    }),
    start(args, { stdin = '', cwd = command.place, env = {}, confined = false } = {}) {
      const options = { cwd, env: { ...command.environment(), ...env } }
      const [file, ...rest] = [...(confined ? CONFINED : []), process.execPath, program, ...args]
      const child = spawn(file!, rest, options)
      child.stdin.on('error', () => undefined).end(stdin)
      let [stdout, stderr] = ['', '']
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
      const ended = new Promise<Ended>((resolve, reject) => {
        child.on('error', reject).on('close', (code) => resolve({ code, stdout, stderr }))
      })
      return { child, ended }
    },
    svc(args, options = {}) {
      if (options.confined) return command.start(args, options).ended
      const { stdin = '', cwd = command.place, env = {} } = options
      return runWarm({ words: args, cwd, env: { ...command.environment(), ...env }, stdin })
    },
    async ok(args, options) {
      const ended = await command.svc(args, options)
      if (ended.code !== 0)
        throw new Error(`svc ${args.join(' ')} ended with ${ended.code}: ${ended.stderr}${ended.stdout}`)
      return ended
    },
    async folders(count) {
      const profile = `user-${(users += 1)}`
      const stdin = PASSWORD
      await command.ok(['user', 'add', profile, '--password-stdin'], { stdin })
      const login = ['login', command.url, '--profile', profile, '--username', profile, '--password-stdin']
      await command.ok(login, { stdin })
      const roots = Array.from({ length: count }, (_, at) => join(command.place, `${profile}-${at}`))
      for (const root of roots) {
        await command.ok(['sync', 'init', root, '--profile', profile])
        onTestFinished(() => rmSync(root, { recursive: true, force: true }))
      }
      return { profile, roots }
    },
  }

  beforeAll(async () => {
    command.place = realpathSync(mkdtempSync(join(tmpdir(), 'svc-sync-cli-')))
    command.home = join(command.place, 'home')
    mkdirSync(command.home)
    const ready = join(command.place, 'ready')
    const running = command.start(['serve', '--port', '0', '--ready-file', ready])
    server = running.child
    for (let waited = 0; !existsSync(ready); waited += 50) {
      if (waited > START || server.exitCode !== null) throw new Error('The server did not start.')
      await sleep(50)
    }
    command.url = (JSON.parse(readFileSync(ready, 'utf8')) as { url: string }).url
    await command.ok(['user', 'add', 'admin', '--role', 'admin', '--password-stdin'], { stdin: PASSWORD })
  }, 2 * START)

  afterAll(async () => {
    const gone = new Promise((resolve) => server.on('close', resolve))
    server.kill('SIGTERM')
    await gone
    rmSync(command.place, { recursive: true, force: true })
  })

  return command
}

export function write(root: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

/** All paths in a folder, sorted, except the engine's own. */
export function paths(root: string, at = ''): string[] {
  return readdirSync(join(root, at), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(at, entry.name)
      if (path === '.svc') return []
      return entry.isDirectory() ? [path, ...paths(root, path)] : [path]
    })
    .sort()
}

/** The contents of a folder by path: the text of a file, or `/`. */
export const contents = (root: string): Record<string, string> =>
  Object.fromEntries(
    paths(root).map((path) => [
      path,
      lstatSync(join(root, path)).isFile() ? readFileSync(join(root, path), 'utf8') : '/',
    ]),
  )
