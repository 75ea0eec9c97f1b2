import { MINUTE } from '../../../src/base/clock.ts'
import { patroniPrograms } from '../../support/patroni.ts'
import type { Random } from '../../support/random.ts'
import type { Fate, Line } from '../../support/s3-line.ts'
import type { HistoryDatabase } from './database.ts'
import descriptions from './faults.json' with { type: 'json' }
import { hasNamespaces } from './network.ts'
import { SERVERS, type Servers } from './servers.ts'

export type FaultName = keyof typeof descriptions

/** What can fail. */
export interface Ground {
  servers: Servers
  cluster: HistoryDatabase
  /** Name of the database. */
  database: string
  store: Line
}

/** What each round of the test suite plays, in an order that the seed decides. */
const USUAL: readonly FaultName[] = ['kill', 'kill', 'pause', 'terminate', 'store', 'clock', 'crash']
/** How many faults a round has where they are chosen. */
const PER_ROUND = 4

/** Why a fault is not possible on this machine. */
const reasons: Partial<Record<FaultName, string>> = {
  ...(hasNamespaces ? {} : { 'black-hole': 'no network namespaces', partition: 'no network namespaces' }),
  ...(patroniPrograms ? {} : { failover: 'Patroni and etcd are not installed' }),
}

/** By `HISTORY_FAULTS`: names with commas, or `all`. */
export function chosenFaults(given: string | undefined): readonly FaultName[] | undefined {
  if (given === undefined) return undefined
  const names = given === 'all' ? Object.keys(descriptions) : given.split(',')
  for (const name of names) {
    if (!Object.hasOwn(descriptions, name)) throw new Error(`There is no fault "${name}".`)
    const reason = reasons[name as FaultName]
    if (reason !== undefined) console.log(`Left out: ${name} (${reason})`)
  }
  return (names as FaultName[]).filter((name) => reasons[name] === undefined)
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** The store treats half of the requests as one of `fates` says, for a while. */
async function failStore(store: Line, random: Random, fates: readonly Fate[], ms: number): Promise<void> {
  store.decide(() => (random.below(2) === 0 ? random.of(fates) : undefined))
  await pause(ms)
  store.decide(() => undefined)
}

const ERRORS: readonly Fate[] = [
  { answer: { status: 500, code: 'InternalError' } },
  { answer: { status: 503, code: 'SlowDown' } },
  { answer: { status: 403, code: 'AccessDenied' } },
  { loseAnswer: true },
  { cutAfter: 1 },
]

/** How long a network fails: mostly short, sometimes longer than servers wait for it; ms. */
const outage = (random: Random): number => (random.below(6) === 0 ? 11_000 : 300) + random.below(3_000)

const play: Record<FaultName, (ground: Ground, random: Random) => Promise<void>> = {
  kill: ({ servers }, random) => servers.kill(random.below(SERVERS)),
  pause: ({ servers }, random) => servers.pause(random.below(SERVERS), 300 + random.below(700)),
  clock: ({ servers }, random) => servers.setClock(random.below(SERVERS), (random.below(20) - 10) * MINUTE),
  terminate: ({ cluster, database }) => cluster.terminate(database),
  crash: ({ cluster }) => cluster.crash(),
  failover: ({ cluster }, random) => cluster.failOver(random),
  reset: ({ servers }, random) => Promise.resolve(servers.network(random.below(SERVERS)).reset()),
  async silence({ servers }, random) {
    const restore = servers.network(random.below(SERVERS)).silence()
    await pause(outage(random))
    restore()
  },
  async 'black-hole'({ servers }, random) {
    const restore = await servers.network(random.below(SERVERS)).blackHole()
    await pause(outage(random))
    await restore()
  },
  async partition({ servers }, random) {
    const restore = await servers.network(random.below(SERVERS)).partition()
    await pause(outage(random))
    await restore()
  },
  store: ({ store }, random) => failStore(store, random, ERRORS, 500 + random.below(1_000)),
  async hang({ store }, random) {
    const over = pause(outage(random))
    store.decide(async () => {
      await over
      return random.below(2) === 0 ? { loseAnswer: true } : undefined
    })
    await over
    store.decide(() => undefined)
  },
}

export interface Fault {
  name: FaultName
  play(): Promise<void>
}

/** The faults of a round: the usual ones, or a mix of the chosen ones. */
export function faultsOf(ground: Ground, random: Random, chosen?: readonly FaultName[]): Fault[] {
  const names = chosen ? Array.from({ length: PER_ROUND }, () => random.of(chosen)) : USUAL
  return names
    .map((name) => ({ name, at: random.below(1_000) }))
    .sort((a, b) => a.at - b.at)
    .map(({ name }) => ({ name, play: () => play[name](ground, random) }))
}
