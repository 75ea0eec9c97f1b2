import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Ended } from '../support/command.ts'
import { startModelServer, type Scripted } from '../support/model-server.ts'
import { isExpected, parseScript, splitWords, type Step } from './script.ts'
import { explores } from '../support/explores.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runWarm } from '../support/warm-command.ts'

// Runs every script in scripts/*.txt with the command as it is built. How they are written is told in script.ts.

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))
const folder = fileURLToPath(new URL('scripts', import.meta.url))

/** How long a server may take until it is ready, ms. */
const PATIENCE = 120_000

interface Running {
  child: ChildProcess
  printed: { stdout: string; stderr: string }
  ended: Promise<number | null>
}

/** Keeps a command away from this machine's user. */
function spawnOptions(place: string) {
  const env = { PATH: process.env['PATH'], HOME: join(place, 'home'), SVC_DATA_DIR: join(place, 'data'), TZ: 'UTC' }
  return { cwd: join(place, 'work'), env }
}

/** Starts a command in a process of its own. */
function start(words: string[], place: string, stdin: string): Running {
  const child = spawn(process.execPath, [program, ...words], spawnOptions(place))
  // A command that ends without reading its input is none the worse for it.
  child.stdin.on('error', () => undefined).end(stdin)
  const printed = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text))
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { child, printed, ended }
}

/** The address in the line with which a server says that it is ready; empty when what was expected has none. */
function readiness({ child, printed, ended }: Running, expected: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const giveUp = (why: string) => reject(new Error(`the server ${why}: ${printed.stderr}`))
    const timer = setTimeout(() => giveUp('was not ready in time'), PATIENCE)
    child.stdout!.on('data', () => {
      const url = /(http:\/\/\S+)\n/.exec(printed.stdout)?.[1]
      if (url !== undefined || isExpected(printed.stdout, expected)) resolve(url ?? '')
    })
    ended.then(() => giveUp('ended'), reject).finally(() => clearTimeout(timer))
  })
}

const asText = (stdout: string, stderr: string, code: number | null): string =>
  [stdout.trimEnd(), '-- standard error', stderr.trimEnd(), '-- exit code', code].join('\n')

/** Runs a command to its end; `alone` in a process of its own. */
async function run(words: string[], place: string, stdin: string, alone: boolean): Promise<Ended> {
  if (!alone) return runWarm({ words, stdin, ...spawnOptions(place) })
  const { ended, printed } = start(words, place, stdin)
  return { code: await ended, ...printed }
}

async function runStep(step: Step, place: string, servers: Running[], url: string, alone: boolean): Promise<string> {
  for (const { name, text } of step.files) writeFileSync(join(place, 'work', name), text, { mode: 0o600 })
  const [name, ...words] = splitWords(step.command.replaceAll('$URL', url))
  if (name !== 'svc') throw new Error(`only svc can be run, not "${name}"`)
  if (step.background) {
    const running = start(words, place, step.stdin)
    servers.push(running)
    const ready = await readiness(running, step.stdout)
    const begun = running.printed.stdout
    if (!isExpected(begun, step.stdout)) throw new Error(`the server began with: ${begun}`)
    return ready === '' ? url : ready
  }
  const { code, stdout, stderr } = await run(words, place, step.stdin, alone)
  const asWritten = isExpected(stdout, step.stdout) && isExpected(stderr, step.stderr) && code === step.code
  const wanted = asText(step.stdout.join('\n'), step.stderr.join('\n'), step.code)
  // Shown together, because the cause of a missing line usually stands in another stream.
  expect(asWritten ? wanted : asText(stdout, stderr, code)).toBe(wanted)
  return url
}

/** Long sessions about what few changes reach. */
const rare = [
  'app-package',
  'app-registry',
  'audit',
  'backup-schedule',
  'backup-stream',
  'component-own',
  'config',
  'data-directory',
  'data-files',
  'profile',
  'quota',
  'rewind',
  'room-files',
  'sync-conflicts',
  'sync-moves',
  'template',
  'user-export',
  'user-keep-messages',
  'user-list',
  'user-lock',
].map((name) => `${name}.txt`)
const scripts = readdirSync(folder).filter((name) => name.endsWith('.txt') && (explores || !rare.includes(name)))

// Every server is a process of its own, and with `npm run test:all` the first command of each script; the others, which are many,
// share one.
test.concurrent.each(scripts)('%s', { timeout: 300_000 }, async (name) => {
  const place = await temporaryFolder()
  for (const sub of ['work', 'home']) mkdirSync(join(place, sub))
  const servers: Running[] = []
  let codes: (number | null)[] = []
  let url = ''
  const model = await startModelServer()
  try {
    for (const [index, step] of parseScript(readFileSync(join(folder, name), 'utf8')).entries()) {
      try {
        model.will(...step.replies.map((reply) => JSON.parse(reply) as Scripted))
        const command = step.command.replaceAll('$MODEL', model.url)
        url = await runStep({ ...step, command }, place, servers, url, explores && index === 0)
      } catch (error) {
        if (error instanceof Error) error.message = `${name}:${step.line}: $ ${step.command}\n${error.message}`
        throw error
      }
    }
  } finally {
    for (const { child } of servers) child.kill('SIGTERM')
    codes = await Promise.all(servers.map(({ ended }) => ended))
    await model.close()
    rmSync(place, { recursive: true, force: true })
  }
  expect(codes).toEqual(servers.map(() => 0))
})
