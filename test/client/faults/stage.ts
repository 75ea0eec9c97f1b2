import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { startChild, type Child } from '../../support/child.ts'
import type { Random } from '../../support/random.ts'
import { folderOfTest } from '../../support/server.ts'
import { runWarm } from '../../support/warm-command.ts'
import { startProxy } from './proxy.ts'

const program = fileURLToPath(new URL('../../../bin/svc.js', import.meta.url))
const PASSWORD = 'analytical engine'

/** The command as it is built, signed in to a server in a process of its own through a proxy, with folders to synchronise. */
export async function setStage(random: Random, folders: readonly string[]) {
  const place = await folderOfTest()
  const data = join(place, 'data')
  mkdirSync(data)
  let server: Child = await startChild('serve', data)
  onTestFinished(() => server.kill())
  const proxy = await startProxy(server.ready, random)

  const env = { PATH: process.env['PATH'], HOME: place, SVC_DATA_DIR: data, SVC_LIMITS: 'off' }

  function run(args: string[], stdin = ''): { code: Promise<number | null>; kill: () => void; text: () => string } {
    const child = spawn(process.execPath, [program, ...args], { env })
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => (text += part))
    child.stdin.on('error', () => undefined).end(stdin)
    const code = new Promise<number | null>((resolve) => child.on('close', resolve))
    return { code, kill: () => child.kill('SIGKILL'), text: () => text }
  }
  async function ok(args: string[], stdin = ''): Promise<void> {
    const { code, stdout, stderr } = await runWarm({ words: args, cwd: place, env, stdin })
    if (code !== 0) throw new Error(`svc ${args.join(' ')}: ${stdout}${stderr}`)
  }

  await ok(['user', 'add', 'admin', '--role', 'admin', '--password-stdin'], PASSWORD)
  await ok(['login', proxy.url, '--username', 'admin', '--password-stdin'], PASSWORD)
  const roots = folders.map((name) => join(place, name))
  for (const root of roots) await ok(['sync', 'init', root])
  return {
    place,
    roots,
    proxy,
    /** Starts the command in a process of its own, which can be killed. */
    run,
    /** Runs the command to its end, which has to be a good one, in a process shared with others. */
    ok,
    killServer: (): void => void server.kill(),
    /** Starts the server again if it was killed. */
    async revive(): Promise<void> {
      if (server.process.exitCode === null && server.process.signalCode === null) return
      server = await startChild('serve', data)
      proxy.upstream = server.ready
    },
  }
}
