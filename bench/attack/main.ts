import { parseArgs } from 'node:util'
import { startPostgres } from '../../test/support/postgres.ts'
import { openWorkspace, type Workspace } from '../workspace.ts'
import { fuzz, type Finding } from './fuzz.ts'
import { brokenPromises, lineOf } from './load/promises.ts'
import { playScenarios } from './load/run.ts'
import { scenarios } from './load/scenarios.ts'
import { runSqlmap } from './sqlmap.ts'
import { openWorld } from './world.ts'

const USAGE = `npm run attack -- [load] [fuzz] [sqlmap] [--seed N] [--rounds N] [--only PATTERN] [--slow MS] [--seconds N] [--postgres]

Starts a service on a temporary directory and attacks it.
load sends hostile requests and the heaviest that an account may ask for, while another process asks /healthz and writes
as another account; it fails when one of these takes longer than 250 ms (99th percentile), or the event loop of the server
stands still for 200 ms. It needs a machine that does nothing else. Latencies are printed as median/99th percentile/longest.
fuzz sends what programs stumble over to each parameter of every operation, and random mutations; sqlmap runs that program,
when it is installed, over the same operations. Without a name all of them run, which takes some minutes.

--seed     decides the random requests; it is printed, and the same one sends them again
--rounds   random requests an operation, 100 if not given
--only     scenarios, or operations of /api/openapi.json, whose name matches this regular expression
--slow     longest that an answer may take, 3000 ms if not given
--seconds  for how long a scenario of load sends, 10 if not given
--postgres lets the server of load store its rows in Postgres, when it is installed

Ends with 1 when there is something to look at.
`

const PARTS = ['load', 'fuzz', 'sqlmap']

const { values: options, positionals: parts } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    rounds: { type: 'string', default: '100' },
    only: { type: 'string' },
    slow: { type: 'string', default: '3000' },
    seconds: { type: 'string', default: '10' },
    postgres: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
})

const seed = Number(options.seed ?? Math.floor(Math.random() * 2 ** 31))
const [rounds, slow, seconds] = [Number(options.rounds), Number(options.slow), Number(options.seconds)]
const unknown = parts.find((part) => !PARTS.includes(part))

if (options.help) process.stdout.write(USAGE)
else if (
  unknown !== undefined ||
  ![seed, rounds, slow, seconds].every((number) => Number.isSafeInteger(number) && number >= 0)
) {
  process.stderr.write(
    `${unknown === undefined ? 'Numbers are whole and not negative.' : `There is no part "${unknown}".`}\n\n${USAGE}`,
  )
  process.exitCode = 2
} else await attack(options.only === undefined ? undefined : new RegExp(options.only, 'i'))

async function attack(only: RegExp | undefined): Promise<void> {
  const workspace = openWorkspace({ profiles: undefined, seconds: 0 })
  process.once('exit', () => workspace.clear())
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const wanted = (part: string) => parts.length === 0 || parts.includes(part)
  let found = wanted('load') ? await attackByLoad(workspace, only) : 0
  if (wanted('fuzz') || wanted('sqlmap')) found += await attackOperations(workspace, wanted, only)
  process.exitCode = found > 0 ? 1 : 0
}

/** Runs the scenarios; returns how many of them break a promise. */
async function attackByLoad(workspace: Workspace, only: RegExp | undefined): Promise<number> {
  const chosen = scenarios.filter(({ name }) => only === undefined || only.test(name))
  if (chosen.length === 0) return 0
  let found = 0
  const cluster = options.postgres ? await startPostgres() : undefined
  try {
    await playScenarios(workspace, chosen, {
      seconds,
      isShort: false,
      postgres: await cluster?.database('svc'),
      onResult(result) {
        const broken = brokenPromises(result)
        if (broken.length > 0) found++
        const lines = [
          `${broken.length > 0 ? '✗' : '✓'} ${lineOf(result)}`,
          ...broken.map((promise) => `    ${promise}`),
        ]
        process.stdout.write(`${lines.join('\n')}\n`)
      },
    })
  } finally {
    await cluster?.stop()
  }
  return found
}

/** Sends modified requests to each operation; returns the number of problems. */
async function attackOperations(
  workspace: Workspace,
  wanted: (part: string) => boolean,
  only: RegExp | undefined,
): Promise<number> {
  const world = await openWorld(workspace)
  let found = 0
  if (wanted('fuzz')) {
    process.stdout.write(`Seed ${seed}.\n`)
    const summary = await fuzz(world, { seed, rounds, only, slow }, (operation, requests) =>
      process.stderr.write(`${operation}: ${requests} requests\n`),
    )
    const { operations, requests, accepted, refused, held, findings, shallow } = summary
    found += findings.length
    if (findings.length > 0) {
      process.stdout.write(`\n${findings.map(show).join('\n')}\n`)
      process.stdout.write('SVC_URL is a server; SVC_TOKEN, SVC_COOKIE and SVC_CSRF are credentials of an account.\n')
    }
    if (shallow.length > 0) process.stdout.write(`Not accepted even as they should be: ${shallow.join(', ')}.\n`)
    process.stdout.write(
      `${operations} operations, ${requests} requests: ${accepted} accepted, ${refused} refused, ${held} held; ${findings.length} findings.\n`,
    )
  }
  if (wanted('sqlmap')) found += await runSqlmap(world, workspace, only)
  const logged = world.logged()
  if (logged !== undefined) {
    found++
    process.stdout.write(`✗ The log of the service:\n  ${logged}\n`)
  }
  await world.close()
  return found
}

function show({ operation, fault, what, status, curl, count }: Finding): string {
  const [answer, others] = [status === undefined ? '' : `; status ${status}`, count > 1 ? `; ${count - 1} more` : '']
  return `✗ ${operation} ${fault}\n  when ${what}${answer}${others}\n  ${curl}\n`
}
