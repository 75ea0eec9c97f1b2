import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommandWith } from '../../support/command.ts'
import type { Random } from '../../support/random.ts'
import { startServerProcess, type ServerProcess } from '../../support/server-process.ts'

const CLOCK = fileURLToPath(new URL('jumping-clock.mjs', import.meta.url))

/** Servers of the built command on one database and one bucket, which can be killed and paused. */
export interface Servers {
  /** One of them; it may be away. */
  any(random: Random): string
  /** Ends one without a word and starts it again. */
  kill(index: number): Promise<void>
  /** Stops one for a while, as a machine does that swaps. */
  pause(index: number, ms: number): Promise<void>
  /** Sets the clock of one so many milliseconds beside the machine's. */
  setClock(index: number, ms: number): Promise<void>
  run(...args: string[]): Promise<string>
  /** Writes a backup. */
  backUp(): Promise<void>
  /** Restores it to an empty database and an empty place in the bucket, which the servers use from then on. */
  goBack(places: { SVC_DATABASE: string; SVC_BLOBS: string }): Promise<void>
  stop(): Promise<void>
}

export async function startServers(folder: string, count: number, first: Record<string, string>): Promise<Servers> {
  let shared = first
  /** How often the servers went back; each time they get new folders. */
  let restores = 0
  const backups = join(folder, 'backups')
  const keyFile = join(folder, 'secret')
  await writeFile(keyFile, 'ab'.repeat(32), { mode: 0o600 })
  const envOf = (index: number) => {
    const home = join(folder, `server-${restores}-${index}`)
    return { ...shared, HOME: home, SVC_DATA_DIR: home, SVC_SECRET_KEY_FILE: keyFile, SVC_LIMITS: 'off' }
  }
  const clockOf = (index: number) => join(folder, `clock-${index}`)
  async function start(index: number, port: string): Promise<ServerProcess> {
    await mkdir(envOf(index).HOME, { recursive: true })
    const clock = { NODE_OPTIONS: `--import=${CLOCK}`, CLOCK_OFFSET_FILE: clockOf(index) }
    return startServerProcess({ ...envOf(index), ...clock }, port)
  }
  async function runWith(env: Record<string, string>, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await runCommandWith(env, ...args)
    if (code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${code}: ${stderr}`)
    return stdout
  }
  const run = (...args: string[]) => runWith(envOf(0), ...args)

  await mkdir(envOf(0).HOME, { recursive: true })
  await run('user', 'add', 'admin', '--role', 'admin', '--generate')
  const servers: ServerProcess[] = []
  for (let index = 0; index < count; index += 1) servers.push(await start(index, '0'))
  return {
    any: (random) => random.of(servers).url,
    async kill(index) {
      const server = servers[index]!
      await server.kill()
      servers[index] = await start(index, new URL(server.url).port)
    },
    async pause(index, ms) {
      const { process } = servers[index]!
      process.kill('SIGSTOP')
      await new Promise((resolve) => setTimeout(resolve, ms))
      process.kill('SIGCONT')
    },
    setClock: (index, ms) => writeFile(clockOf(index), String(ms)),
    run,
    backUp: async () => void (await run('backup', 'create', '--to', backups)),
    async goBack(places) {
      await Promise.all(servers.map((server) => server.kill()))
      restores += 1
      const restored = join(folder, `restored-${restores}`)
      const { SVC_DATABASE: _rows, SVC_BLOBS: _contents, ...keys } = shared
      const env = { ...keys, HOME: folder }
      const at = ['--data-dir', restored]
      await runWith(env, 'backup', 'restore', 'latest', '--from', backups, '--keep-devices', ...at)
      await runWith(env, 'storage', 'migrate', '--to', places.SVC_DATABASE, ...at)
      await runWith(env, 'storage', 'migrate', '--to', places.SVC_BLOBS, ...at)
      shared = { ...shared, ...places }
      for (const [index, server] of servers.entries()) servers[index] = await start(index, new URL(server.url).port)
    },
    stop: async () => void (await Promise.all(servers.map((server) => server.kill()))),
  }
}
