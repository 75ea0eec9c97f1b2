import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { folderOfTest } from './server.ts'

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

/** Timeout of any step, ms. */
const PATIENCE = 60_000

/** A running command and its output so far. */
export interface Running {
  child: ChildProcess
  printed: { stdout: string; stderr: string }
  ended: Promise<number | null>
}

/** Starts a built client command for an account of a server; it is ended with the test. */
export async function startAs({ url, token }: { url: string; token: string }, ...args: string[]): Promise<Running> {
  const home = await folderOfTest()
  const env = { PATH: process.env['PATH'], HOME: home, SVC_URL: url, SVC_TOKEN: token, TZ: 'UTC' }
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text))
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { child, printed, ended }
}

/** Waits until a condition holds; `told` is shown in the error. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, told: () => string): Promise<void> {
  const began = performance.now()
  while (!(await isSo())) {
    if (performance.now() - began > PATIENCE) throw new Error(`not within time: ${what}\n${told()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
