import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('../../..', import.meta.url))
/** By name: what is replaced in which file, in a copy of the sources. Each text occurs once. */
const protections = JSON.parse(readFileSync(new URL('protections.json', import.meta.url), 'utf8'))
/** By name, what each fault is. */
const faults = JSON.parse(readFileSync(new URL('faults.json', import.meta.url), 'utf8'))

const USAGE = `npm run check:history -- [--rounds N] [--from SEED] [--faults NAMES] [--without PROTECTION] [--failovers N]

Lets eight devices write, chat and upload through three servers on Postgres and an S3 store while parts fail, and compares
afterwards what the servers acknowledged and showed. A round that fails is named by its seed; servers and network decide the
rest, so it may pass when it is played again. Faults that this machine cannot cause are left out and named.

--rounds     rounds to play: 200, or 10 with --without
--from       seed of the first round
--faults     what may fail, with commas between; a random mix of all if not given; with --without, what the test suite plays
--without    the servers lack a protection, and the check passes when it finds that out: ${Object.keys(protections).join(', ')}
--failovers  instead, Patroni fails the database over so many times in each way, and the times are printed

Faults:
${Object.entries(faults)
  .map(([name, what]) => `  ${name.padEnd(10)}  ${what}\n`)
  .join('')}`

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    from: { type: 'string', default: '1' },
    failovers: { type: 'string' },
    without: { type: 'string' },
    faults: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
})
const { from, failovers, without } = values
if (values.help) {
  process.stdout.write(USAGE)
  process.exit(0)
}
const chosen = values.faults ?? (without === undefined ? 'all' : undefined)
for (const name of chosen?.split(',') ?? [])
  if (name !== 'all' && !Object.hasOwn(faults, name))
    throw new Error(`There is no fault "${name}", but ${Object.keys(faults).join(', ')}.`)
if (without !== undefined && !Object.hasOwn(protections, without))
  throw new Error(`There is no protection "${without}", but ${Object.keys(protections).join(', ')}.`)
const rounds = values.rounds ?? (without === undefined ? '200' : '10')
const what = failovers === undefined ? 'test/wiring/history/history.test.ts' : 'test/wiring/patroni.test.ts'
const env = {
  ...process.env,
  ...(failovers === undefined
    ? { HISTORY_ROUNDS: rounds, HISTORY_FROM: from, ...(chosen && { HISTORY_FAULTS: chosen }) }
    : { FAILOVERS: failovers }),
  ...(without === undefined ? {} : { STARTED_PROGRAM: buildWithout(without) }),
}
const vitest = spawn(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', '--project', 'sqlite', what],
  { cwd: root, stdio: ['inherit', 'pipe', 'pipe'], env },
)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => vitest.kill(signal))
let said = ''
for (const name of ['stdout', 'stderr'])
  vitest[name].on('data', (text) => {
    said += text
    process[name].write(text)
  })
const [status] = await once(vitest, 'close')
if (without === undefined) process.exit(status ?? 1)
const found = /Round (\d+) fails: (.*)/.exec(said)
if (found) {
  const count = Number(found[1]) - Number(from) + 1
  console.log(`Without ${without}: found in round ${count}: ${found[2]}`)
} else console.log(`Without ${without}: not found in ${rounds} rounds.`)
process.exit(found ? 0 : 1)

/** Builds the command without a protection, apart from the product. Returns its program. */
function buildWithout(name) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-without-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const part of ['src', 'bin', 'templates', 'package.json', 'tsconfig.json'])
    cpSync(join(root, part), join(folder, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const { file, from, to } of protections[name]) {
    const path = join(folder, file)
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(from, () => to),
    )
  }
  const { status } = spawnSync(process.execPath, ['bin/build.js'], { cwd: folder, stdio: 'inherit' })
  if (status !== 0) throw new Error(`The command could not be built without ${name}.`)
  return join(folder, 'bin/svc.js')
}
