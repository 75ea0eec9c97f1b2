import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommandWith } from '../../support/command.ts'
import type { Random } from '../../support/random.ts'
import { startServerProcess, type ServerProcess } from '../../support/server-process.ts'
import { freeSubnet, hasNamespaces, loopback, namespace, type Network } from './network.ts'

const CLOCK = fileURLToPath(new URL('jumping-clock.mjs', import.meta.url))

export const SERVERS = 3

/** What the servers share. */
interface Shared {
  /** Hosts of the database, and the name of the one they use. */
  hosts: readonly string[]
  database: string
  /** URL of the store, and the name of the bucket. */
  store: string
  bucket: string
  env: Record<string, string>
}

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
  /** The network of one. */
  network(index: number): Network
  run(...args: string[]): Promise<string>
  /** Writes a backup. */
  backUp(): Promise<void>
  /** Restores it to an empty database and an empty place in the bucket, which the servers use from then on. */
  goBack(places: { database: string; bucket: string }): Promise<void>
  stop(): Promise<void>
}

export async function startServers(folder: string, first: Shared, options: { isCut: boolean }): Promise<Servers> {
  let shared = first
  /** How often the servers went back; each time they get new folders. */
  let restores = 0
  const backups = join(folder, 'backups')
  const keyFile = join(folder, 'secret')
  await writeFile(keyFile, 'ab'.repeat(32), { mode: 0o600 })
  const networks: Network[] = []
  const subnet = freeSubnet()
  for (let index = 0; index < SERVERS; index += 1)
    networks.push(await (options.isCut && hasNamespaces ? namespace(index, subnet, first) : loopback(first)))
  const placesOf = (index: number) => ({
    SVC_DATABASE: `postgres://svc@${networks[index]!.hosts.join(',')}/${shared.database}`,
    SVC_BLOBS: `s3://${shared.bucket}?endpoint=${networks[index]!.store}`,
  })
  const envOf = (index: number) => {
    const home = join(folder, `server-${restores}-${index}`)
    const own = { HOME: home, SVC_DATA_DIR: home, SVC_SECRET_KEY_FILE: keyFile, SVC_HOST: networks[index]!.host }
    return { ...shared.env, ...placesOf(index), ...own, SVC_LIMITS: 'off' }
  }
  const clockOf = (index: number) => join(folder, `clock-${index}`)
  async function start(index: number, port: string): Promise<ServerProcess> {
    await mkdir(envOf(index).HOME, { recursive: true })
    const clock = { NODE_OPTIONS: `--import=${CLOCK}`, CLOCK_OFFSET_FILE: clockOf(index) }
    return startServerProcess({ ...envOf(index), ...clock }, port, networks[index]!.within)
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
  for (let index = 0; index < SERVERS; index += 1) servers.push(await start(index, '0'))
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
    network: (index) => networks[index]!,
    run,
    backUp: async () => void (await run('backup', 'create', '--to', backups)),
    async goBack(places) {
      await Promise.all(servers.map((server) => server.kill()))
      restores += 1
      const restored = join(folder, `restored-${restores}`)
      const env = { ...shared.env, HOME: folder }
      const at = ['--data-dir', restored]
      await runWith(env, 'backup', 'restore', 'latest', '--from', backups, '--keep-devices', ...at)
      shared = { ...shared, ...places }
      for (const place of Object.values(placesOf(0))) await runWith(env, 'storage', 'migrate', '--to', place, ...at)
      for (const [index, server] of servers.entries()) servers[index] = await start(index, new URL(server.url).port)
    },
    async stop() {
      await Promise.all(servers.map((server) => server.kill()))
      await Promise.all(networks.map((network) => network.stop()))
    },
  }
}
