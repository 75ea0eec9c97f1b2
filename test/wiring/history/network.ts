import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { randomHex } from '../../../src/base/random.ts'
import { lineOfTest, type Line } from '../../support/line.ts'

// The network between one server and what it uses. Every connection passes a relay; with namespaces, also a virtual cable.

const run = promisify(execFile)
const ip = (...words: string[]) => run('ip', words)

/** Whether this machine permits network namespaces. */
export const hasNamespaces = ((): boolean => {
  const name = `svc-${randomHex(4)}`
  if (spawnSync('ip', ['netns', 'add', name]).status !== 0) return false
  return spawnSync('ip', ['netns', 'delete', name]).status === 0
})()

export interface Network {
  /** The address at which the server listens. */
  host: string
  /** The words before a command that runs it at the server's end. */
  within: readonly string[]
  /** The address of each of the given hosts (`host:port`) for the server. */
  hosts: string[]
  /** The URL of the store for the server. */
  store: string
  reset(): void
  /** Open connections to the database stay silent; later ones are silent until it is restored. */
  silence(): () => void
  /** Packets to the database vanish until it is restored. */
  blackHole(): Promise<() => Promise<unknown>>
  /** No packets pass in either direction until it is restored. */
  partition(): Promise<() => Promise<unknown>>
  stop(): Promise<void>
}

interface Ends {
  /** At the end of the database, and of the store. */
  database: string
  store: string
}

async function makeNetwork({ database, store }: Ends, to: { hosts: readonly string[]; store: string }) {
  const lines: Line[] = []
  for (const host of to.hosts) lines.push(await lineOfTest(`http://${host}`, database))
  const toStore = await lineOfTest(to.store, store)
  return {
    hosts: lines.map(({ url }) => new URL(url).host),
    store: toStore.url,
    reset: () => [...lines, toStore].forEach((line) => line.reset()),
    silence() {
      for (const line of lines) line.silence()
      return () => lines.forEach((line) => line.restore())
    },
  }
}

const absent = () => Promise.reject(new Error('There are no network namespaces.'))

/** Everything on the loopback interface. */
export async function loopback(to: { hosts: readonly string[]; store: string }): Promise<Network> {
  const network = await makeNetwork({ database: '127.0.0.1', store: '127.0.0.1' }, to)
  const host = '127.0.0.1'
  return { ...network, host, within: [], blackHole: absent, partition: absent, stop: () => Promise.resolve() }
}

/** A namespace for the server, connected by a cable with two addresses at this end. */
export async function namespace(
  index: number,
  subnet: string,
  to: { hosts: readonly string[]; store: string },
): Promise<Network> {
  const name = `svc-${randomHex(4)}`
  const [database, host, store] = [1, 2, 3].map((end) => `${subnet}.${index * 8 + end}`) as [string, string, string]
  // As long as names of interfaces may be.
  const cable = `${name}-c`
  await ip('netns', 'add', name)
  await ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'cable', 'netns', name)
  for (const end of [database, store]) await ip('address', 'add', `${end}/29`, 'dev', cable)
  await ip('link', 'set', cable, 'up')
  await ip('-n', name, 'address', 'add', `${host}/29`, 'dev', 'cable')
  for (const device of ['lo', 'cable']) await ip('-n', name, 'link', 'set', device, 'up')
  return {
    ...(await makeNetwork({ database, store }, to)),
    host,
    within: ['ip', 'netns', 'exec', name],
    async blackHole() {
      const neighbour = [database, 'dev', 'cable']
      // Nobody has this hardware address.
      await ip('-n', name, 'neigh', 'replace', ...neighbour, 'lladdr', '02:00:00:00:00:01', 'nud', 'permanent')
      return () => ip('-n', name, 'neigh', 'delete', ...neighbour)
    },
    async partition() {
      await ip('link', 'set', cable, 'down')
      return () => ip('link', 'set', cable, 'up')
    },
    async stop() {
      await ip('link', 'delete', cable)
      await ip('netns', 'delete', name)
    },
  }
}

/** An address that nobody else on this machine uses. */
export const freeSubnet = (): string => `10.${100 + Math.floor(Math.random() * 100)}.${Math.floor(Math.random() * 250)}`
