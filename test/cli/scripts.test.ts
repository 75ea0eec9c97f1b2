import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startModelServer, type Scripted } from '../support/model-server.ts'
import { isExpected, parseScript, splitWords, type Step } from './script.ts'
import { temporaryFolder } from '../support/folder.ts'

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

/** Starts a command where nothing of this machine's user reaches it. */
function start(command: string, place: string, stdin: string): Running {
  const [name, ...words] = splitWords(command)
  if (name !== 'svc') throw new Error(`only svc can be run, not "${name}"`)
  const home = join(place, 'home')
  const child = spawn(process.execPath, [program, ...words], {
    cwd: join(place, 'work'),
    env: { PATH: process.env['PATH'], HOME: home, SVC_DATA_DIR: join(place, 'data'), TZ: 'UTC' },
  })
  // A command that ends without reading its input is none the worse for it.
  child.stdin.on('error', () => undefined).end(stdin)
  const printed = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text))
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { child, printed, ended }
}

/** The address in the line with which a server says that it is ready. */
function readiness({ child, printed, ended }: Running): Promise<string> {
  return new Promise((resolve, reject) => {
    const giveUp = (why: string) => reject(new Error(`the server ${why}: ${printed.stderr}`))
    const timer = setTimeout(() => giveUp('was not ready in time'), PATIENCE)
    child.stdout!.on('data', () => {
      const url = /(http:\/\/\S+)\n/.exec(printed.stdout)?.[1]
      if (url) resolve(url)
    })
    ended.then(() => giveUp('ended'), reject).finally(() => clearTimeout(timer))
  })
}

const asText = (stdout: string, stderr: string, code: number | null): string =>
  [stdout.trimEnd(), '-- standard error', stderr.trimEnd(), '-- exit code', code].join('\n')

async function runStep(step: Step, place: string, servers: Running[], url: string): Promise<string> {
  for (const { name, text } of step.files) writeFileSync(join(place, 'work', name), text, { mode: 0o600 })
  const running = start(step.command.replaceAll('$URL', url), place, step.stdin)
  if (step.background) {
    servers.push(running)
    const ready = await readiness(running)
    const begun = running.printed.stdout
    if (!isExpected(begun, step.stdout)) throw new Error(`the server began with: ${begun}`)
    return ready
  }
  const code = await running.ended
  const { stdout, stderr } = running.printed
  const asWritten = isExpected(stdout, step.stdout) && isExpected(stderr, step.stderr) && code === step.code
  const wanted = asText(step.stdout.join('\n'), step.stderr.join('\n'), step.code)
  // Shown together, because the cause of a missing line usually stands in another stream.
  expect(asWritten ? wanted : asText(stdout, stderr, code)).toBe(wanted)
  return url
}

const scripts = readdirSync(folder).filter((name) => name.endsWith('.txt'))

// Mostly waiting for processes, so several at a time.
test.concurrent.each(scripts)('%s', { timeout: 300_000 }, async (name) => {
  const place = await temporaryFolder()
  for (const sub of ['work', 'home']) mkdirSync(join(place, sub))
  const servers: Running[] = []
  let codes: (number | null)[] = []
  let url = ''
  const model = await startModelServer()
  try {
    for (const step of parseScript(readFileSync(join(folder, name), 'utf8'))) {
      try {
        model.will(...step.replies.map((reply) => JSON.parse(reply) as Scripted))
        const command = step.command.replaceAll('$MODEL', model.url)
        url = await runStep({ ...step, command }, place, servers, url)
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
