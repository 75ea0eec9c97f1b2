import { parseArgs } from 'node:util'
import { openWorkspace } from '../workspace.ts'
import { fuzz, type Finding } from './fuzz.ts'
import { runSqlmap } from './sqlmap.ts'
import { openWorld } from './world.ts'

const USAGE = `npm run attack -- [fuzz] [sqlmap] [--seed N] [--rounds N] [--only PATTERN] [--slow MS]

Starts a service on a temporary directory and attacks every operation of its description.
fuzz sends what programs stumble over to each parameter, and random mutations; sqlmap runs that program, when it is
installed, over the same operations. Without a name both run, which takes some minutes.

--seed     decides the random requests; it is printed, and the same one sends them again
--rounds   random requests an operation, 100 if not given
--only     operations whose name in /api/openapi.json matches this regular expression
--slow     longest that an answer may take, 3000 ms if not given

Ends with 1 when there is something to look at.
`

const PARTS = ['fuzz', 'sqlmap']

const { values: options, positionals: parts } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    rounds: { type: 'string', default: '100' },
    only: { type: 'string' },
    slow: { type: 'string', default: '3000' },
    help: { type: 'boolean', short: 'h' },
  },
})

const seed = Number(options.seed ?? Math.floor(Math.random() * 2 ** 31))
const [rounds, slow] = [Number(options.rounds), Number(options.slow)]
const unknown = parts.find((part) => !PARTS.includes(part))

if (options.help) process.stdout.write(USAGE)
else if (
  unknown !== undefined ||
  ![seed, rounds, slow].every((number) => Number.isSafeInteger(number) && number >= 0)
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
  process.exitCode = found > 0 ? 1 : 0
}

function show({ operation, fault, what, status, curl, count }: Finding): string {
  const [answer, others] = [status === undefined ? '' : `; status ${status}`, count > 1 ? `; ${count - 1} more` : '']
  return `✗ ${operation} ${fault}\n  when ${what}${answer}${others}\n  ${curl}\n`
}
