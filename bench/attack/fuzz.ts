import { makeRandom } from '../../test/support/random.ts'
import { addresses, addressShots } from './addresses.ts'
import { basesOf, plain } from './base.ts'
import { faultsOf } from './checks.ts'
import { mutant } from './mutate.ts'
import { operationsOf, type Description, type Operation } from './operations.ts'
import { makeGun, type Gun, type Outcome } from './send.ts'
import { curlOf, type Shot } from './shot.ts'
import { kinds } from './shots.ts'
import type { Attacker, State, Target } from './target.ts'

export interface FuzzOptions {
  /** Seed of the random requests of each operation, independent of the others. */
  seed: number
  /** Random requests per operation, in addition to the fixed ones. */
  rounds: number
  /** Operations whose name matches; all by default. */
  only?: RegExp | undefined
  /** Longest response time, ms. */
  slow: number
}

/** A problem, with the first request that shows it. */
export interface Finding {
  operation: string
  fault: string
  /** The modification of the request. */
  what: string
  status: number | undefined
  curl: string
  /** Number of requests that show it. */
  count: number
}

export interface Summary {
  operations: number
  requests: number
  accepted: number
  refused: number
  /** Long polls that were aborted. */
  held: number
  findings: Finding[]
  /** Operations whose valid request was refused, so that only their first checks are tested. */
  shallow: string[]
}

/** Random requests per attacker. */
const ROUNDS_EACH = 20

/** A hash of a text. */
const numberOf = (text: string): number =>
  Array.from(text).reduce((hash, character) => Math.imul(hash ^ character.codePointAt(0)!, 0x01000193), 0x811c9dc5)

/** Whether the request stores the entries before an invalid one, as the description says. */
const storesBefore = ({ action }: Operation): boolean => action === 'upload_batch'

/**
 * Operations of administrators. They are attacked by users, who must always be refused: administrators may change other
 * accounts on purpose.
 */
const isForAdministrators = ({ path }: Operation): boolean => path.startsWith('/api/admin.php/')

/** Error codes of the endpoints, which the description names in its introduction. */
const OF_ENDPOINTS = ['method_not_allowed', 'unknown_action']

/** All possible error codes. */
const codesOf = ({ components }: Description): ReadonlySet<unknown> =>
  new Set([...OF_ENDPOINTS, ...Object.values(components.schemas).map(({ properties }) => properties?.['code']?.const)])

/** Attacks the operations of a target. `tell` is called after each operation. */
export async function fuzz(
  target: Target,
  options: FuzzOptions,
  tell: (operation: string, requests: number) => void,
): Promise<Summary> {
  const codes = codesOf(target.description)
  const operations = [addresses, ...operationsOf(target.description)].filter(({ id }) => options.only?.test(id) ?? true)
  const summary: Summary = {
    operations: operations.length,
    requests: 0,
    accepted: 0,
    refused: 0,
    held: 0,
    findings: [],
    shallow: [],
  }
  const known = new Map<string, Finding>()
  const gun = makeGun(target.url)

  function note(shot: Shot, fault: string, status?: number): void {
    const key = `${shot.operation.id} ${fault}`
    const found = known.get(key)
    if (found) return void found.count++
    const finding = { operation: shot.operation.id, fault, what: shot.what, status, curl: curlOf(shot), count: 1 }
    known.set(key, finding)
    summary.findings.push(finding)
  }

  /** Sends a request and checks its effects. */
  async function take(shot: Shot, attacker: Attacker, watch: Watch): Promise<number> {
    const outcome = await patient(gun, shot, attacker, options.slow)
    summary.requests++
    if ('broke' in outcome) {
      note(shot, `is not answered: ${outcome.broke}`)
      return 0
    }
    if ('held' in outcome) {
      summary.held++
      return 0
    }
    const { reply } = outcome
    const isRefused = reply.status >= 400
    summary[isRefused ? 'refused' : 'accepted']++
    for (const fault of faultsOf(target, codes, shot, reply)) note(shot, fault, reply.status)
    if (!isRefused && isForAdministrators(shot.operation)) note(shot, 'is done for a user', reply.status)
    if (reply.ms > options.slow) note(shot, `takes longer than ${options.slow} ms`, reply.status)
    for (const fault of watch.look(isRefused && !storesBefore(shot.operation))) note(shot, fault, reply.status)
    return reply.status
  }

  async function roleFor(operation: Operation): Promise<'user' | 'admin'> {
    if (isForAdministrators(operation)) return 'user'
    for (const role of ['user', 'admin'] as const) {
      const attacker = await target.newcomer(role)
      const watch = watchOf(target, attacker)
      const [base] = basesOf(operation, attacker, target.foreign)
      let isDone = false
      for (const shot of plain(base!)) if ((await take(shot, attacker, watch)) < 400) isDone = true
      if (isDone) return role
    }
    summary.shallow.push(operation.id)
    return 'user'
  }

  async function attack(operation: Operation): Promise<void> {
    const random = makeRandom(options.seed ^ numberOf(operation.id))
    const role = await roleFor(operation)
    for (const kind of kinds) {
      const attacker = await target.newcomer(role)
      const watch = watchOf(target, attacker)
      for (const base of basesOf(operation, attacker, target.foreign))
        for (const shot of kind(base, target, attacker)) await take(shot, attacker, watch)
    }
    for (let round = 0; round < options.rounds; round += ROUNDS_EACH) {
      const attacker = await target.newcomer(role)
      const watch = watchOf(target, attacker)
      const bases = basesOf(operation, attacker, target.foreign)
      for (let left = Math.min(ROUNDS_EACH, options.rounds - round); left > 0; left--)
        await take(mutant(random.of(bases), random), attacker, watch)
    }
  }

  async function attackAddresses(): Promise<void> {
    const attacker = await target.newcomer('user')
    const watch = watchOf(target, attacker)
    for (const shot of addressShots()) await take(shot, attacker, watch)
  }

  try {
    for (const operation of operations) {
      const before = summary.requests
      await (operation === addresses ? attackAddresses() : attack(operation))
      tell(operation.id, summary.requests - before)
    }
  } finally {
    gun.close()
  }
  return summary
}

/** Sends a request; again if the connection broke or the response was late, which may not be its fault. */
async function patient(gun: Gun, shot: Shot, attacker: Attacker, slow: number): Promise<Outcome> {
  let outcome = await gun.fire(shot, attacker)
  for (let again = 0; again < 2; again++) {
    if ('held' in outcome || ('reply' in outcome && outcome.reply.ms <= slow)) return outcome
    outcome = await gun.fire(shot, attacker)
  }
  return outcome
}

interface Watch {
  /** Forbidden changes of the last request; `wasRefused` if it must not have changed anything. */
  look(wasRefused: boolean): string[]
}

/** Detects changes of protected data. Checking is expensive, so it is done only after commits. */
function watchOf(target: Target, attacker: Attacker): Watch {
  let state: State = target.state(attacker)
  let commits = target.commits()
  return {
    look(wasRefused) {
      const now = target.commits()
      if (now === commits) return []
      commits = now
      const before = state
      state = target.state(attacker)
      return [
        ...(state.other === before.other ? [] : ['changes something of somebody else']),
        ...(wasRefused && state.own !== before.own ? ['changes something although it is refused'] : []),
      ]
    },
  }
}
