import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { runWarm } from './warm-command.ts'

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** In UTC and away from this machine's user. */
const environment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({ PATH: process.env['PATH'], TZ: 'UTC', ...env })

const environmentOf = (dataDir: string): NodeJS.ProcessEnv => ({ HOME: dataDir, SVC_DATA_DIR: dataDir })

/** Starts the built command in this environment, in a process of its own. */
export const startCommandWith = (env: NodeJS.ProcessEnv, ...args: string[]): ChildProcess =>
  spawn(process.execPath, [program, ...args], { env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] })

/** The same on a data directory. */
export const startCommand = (dataDir: string, ...args: string[]): ChildProcess =>
  startCommandWith(environmentOf(dataDir), ...args)

/** Runs it to its end, in the process of the commands that ran before. */
export const runCommandWith = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> =>
  runWarm({ words: args, cwd: process.cwd(), env: environment(env), stdin: '' })

/** The same on a data directory. */
export const runCommand = (dataDir: string, ...args: string[]): Promise<Ended> =>
  runCommandWith(environmentOf(dataDir), ...args)

/** What a command that was started prints until it ends, and how it ends. */
export async function ended(child: ChildProcess): Promise<Ended> {
  let stdout = ''
  let stderr = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { code, stdout, stderr }
}
