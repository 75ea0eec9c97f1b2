import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Workspace } from '../workspace.ts'
import { basesOf, shotOf, type Base } from './base.ts'
import { operationsOf, type Operation } from './operations.ts'
import type { Attacker, Target } from './target.ts'

/** Time limit per operation, ms. */
const PATIENCE_MS = 300_000

/** Operations that end the credentials they are called with, or hash passwords, which takes hours. */
const LEFT_OUT = /logout|login|revoke|password|2fa|setup|regenerate/i

const POSITIVE = /is vulnerable|following injection point/
const NEGATIVE = /all tested parameters do not appear to be injectable/

/** A request in the file format of sqlmap. */
function requestFile({ operation, ...base }: Base, attacker: Attacker, url: string): string {
  const { method, target, headers, body } = shotOf({ operation, ...base }, { what: 'as it should be' })
  const credentials: Record<string, string> = operation.ways.includes('device')
    ? { authorization: `Bearer ${attacker.token}` }
    : { cookie: `PHPSESSID=${attacker.cookie}`, 'x-csrf-token': attacker.csrf }
  const lines = Object.entries({ host: new URL(url).host, ...credentials, ...headers })
  const head = [`${method} ${target} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)]
  return `${head.join('\r\n')}\r\n\r\n${operation.takes === 'json' ? body!.toString() : ''}`
}

const takesSomething = ({ parameters, body }: Operation): boolean => Object.keys({ ...parameters, ...body }).length > 0

/** Runs sqlmap on one request; returns its output. */
async function run(workspace: Workspace, file: string, skipped: string): Promise<string> {
  const quick = ['--batch', '--dbms=sqlite', '--level=1', '--risk=1', '--technique=BEU']
  const fresh = [
    '--ignore-stdin',
    '--flush-session',
    `--output-dir=${workspace.folder('sqlmap')}`,
    '--disable-coloring',
  ]
  const wire = ['--keep-alive', '--retries=0', '--timeout=10', '--skip-waf', '--ignore-code=*']
  const args = ['-r', file, `--param-exclude=${skipped}`, ...quick, ...fresh, ...wire]
  const child = spawn('sqlmap', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  workspace.adopt(child)
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
  let output = ''
  child.stdout.on('data', (text) => (output += String(text)))
  child.stderr.on('data', (text) => (output += String(text)))
  await new Promise((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  return output
}

/**
 * Runs sqlmap on every parameter of every operation and prints its findings. Returns the number of operations with
 * findings.
 */
export async function runSqlmap(target: Target, workspace: Workspace, only: RegExp | undefined): Promise<number> {
  const version = spawnSync('sqlmap', ['--version'], { encoding: 'utf8' })
  if (version.error) {
    process.stdout.write('sqlmap is not installed, so it was not run (Debian: apt-get install sqlmap).\n')
    return 0
  }
  const chosen = operationsOf(target.description).filter(
    (operation) => takesSomething(operation) && !LEFT_OUT.test(operation.id) && (only?.test(operation.id) ?? true),
  )
  let [injectable, silent] = [0, 0]
  for (const operation of chosen) {
    const attacker = await target.newcomer('user')
    const [base] = basesOf(operation, attacker, target.foreign)
    const file = join(workspace.folder('request'), 'request.txt')
    writeFileSync(file, requestFile(base!, attacker, target.url))
    const output = await run(workspace, file, '^(action|PHPSESSID)$')
    if (POSITIVE.test(output)) {
      injectable++
      process.stdout.write(`✗ ${operation.id}: sqlmap takes it for injectable\n${output}\n`)
    } else if (!NEGATIVE.test(output)) {
      silent++
      process.stdout.write(`✗ ${operation.id}: sqlmap comes to no verdict\n${output}\n`)
    } else process.stderr.write(`${operation.id}: not injectable\n`)
  }
  const verdict = silent === 0 ? '' : `, ${silent} without a verdict`
  process.stdout.write(`sqlmap: ${chosen.length} operations, ${injectable} injectable${verdict}.\n`)
  return injectable + silent
}
