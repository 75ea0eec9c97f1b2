import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqlite } from '../../../src/storage/engine/sqlite.ts'
import { openLocal } from '../../../src/wiring/local-domain.ts'
import { makeAccount, withDatabase, withService } from '../../account.ts'
import { enlist, signIn } from '../../people.ts'
import { numbers } from '../../samples.ts'
import { plainEnv, SVC } from '../../server.ts'
import type { Workspace } from '../../workspace.ts'
import { beginAttack, type Attacker } from './attack.ts'
import type { Report } from './monitor-program.ts'
import type { Scenario } from './scenario.ts'
import { watchService } from './watch-service.ts'

export interface Options {
  /** Seconds in which a scenario starts requests, and minimum time of monitoring. */
  seconds: number
  /** Whether to use smaller sizes. */
  isShort: boolean
  /** The address of an empty Postgres database for the rows; SQLite without one. */
  postgres?: string | undefined
  /** Called for each result. */
  onResult(result: Result): void
}

/** The result of a scenario, and its effects on others. */
export interface Result extends Report {
  name: string
  /** Requests by outcome; empty for the idle run. */
  outcomes: ReadonlyMap<string, number>
  /** Forbidden outcomes, and a missing required one. */
  unexpected: string[]
}

/** Longest duration of a scenario, ms. */
const MOST_MS = 300_000

const DEVICES = 5

/** Name of the run without an attack. */
const IDLE = 'idle'

/** An attacker with several devices, and another user who writes a note. */
interface Pair {
  attacker: Attacker & { id: number }
  victim: string
}

async function addPairs(dataDir: string, count: number): Promise<Pair[]> {
  const local = await openLocal({ dataDir, env: {} })
  const database = openSqlite(local.directory.database)
  try {
    return await database.write('instance', async (tx) => {
      const pairs: Pair[] = []
      for (const number of numbers(count)) {
        const username = `attacker-${number}`
        const { id, token } = await enlist(tx, local, { username })
        const tokens = [token]
        while (tokens.length < DEVICES) tokens.push((await signIn(tx, local.domain, id, 'Attack')).token)
        const { token: victim } = await enlist(tx, local, { username: `victim-${number}` })
        pairs.push({ attacker: { id, username, tokens, address: `127.0.0.${10 + number}` }, victim })
      }
      return pairs
    })
  } finally {
    await database.close()
    await local.close()
  }
}

/** Moves the rows of an installation to Postgres. */
function moveRows(dataDir: string, to: string): void {
  const move = [SVC, 'storage', 'migrate', '--to', to, '--data-dir', dataDir]
  execFileSync(process.execPath, move, { env: plainEnv(), stdio: ['ignore', 'ignore', 'inherit'] })
}

const unexpectedOf = ({ allowed, reached }: Scenario, outcomes: ReadonlyMap<string, number>): string[] => {
  const names = [...outcomes.keys()]
  return [
    ...names.filter((name) => !allowed.test(name)).map((name) => `outcome ${name}`),
    ...(names.some((name) => reached.test(name)) ? [] : [`no outcome like ${reached.source}`]),
  ]
}

/**
 * Runs the scenarios one after another on one server with default limits. The first result is that of the idle server.
 */
export async function playScenarios(
  workspace: Workspace,
  scenarios: readonly Scenario[],
  { seconds, isShort, postgres, onResult }: Options,
): Promise<Result[]> {
  const account = await makeAccount(workspace)
  const pairs = await addPairs(account.dataDir, scenarios.length)
  await withDatabase(account.database, (database) =>
    scenarios.forEach(({ seed }, index) =>
      seed?.(database, pairs[index]!.attacker.id, (full, short) => (isShort ? short : full)),
    ),
  )
  if (postgres !== undefined) moveRows(account.dataDir, postgres)
  const results: Result[] = []
  const note = (result: Result) => {
    results.push(result)
    onResult(result)
  }
  await withService(
    workspace,
    account,
    async ({ url }) => {
      const watch = (token: string) => watchService(workspace, { url, token, mostMs: MOST_MS })
      const endIdle = await watch(account.token)
      await sleep(seconds * 1_000)
      note({ name: IDLE, outcomes: new Map(), unexpected: [], ...(await endIdle()) })
      for (const [index, scenario] of scenarios.entries()) {
        const { attacker, victim } = pairs[index]!
        const endWatch = await watch(victim)
        const { attack, outcomes, end } = beginAttack({ ...attacker, url, isShort, seconds })
        await end(scenario.run(attack))
        // Even if the scenario ends at once, monitoring continues for a while.
        await attack.over
        note({ name: scenario.name, outcomes, unexpected: unexpectedOf(scenario, outcomes), ...(await endWatch()) })
      }
    },
    'on',
  )
  return results
}
