import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { runWarm } from './warm-command.ts'

/** Another build of the command may take the place of the product's where it is started, to be compared with it. */
const program = process.env['STARTED_PROGRAM'] ?? fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** UTC, and without the settings of this machine's user. */
const environment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({ PATH: process.env['PATH'], TZ: 'UTC', ...env })

const environmentOf = (dataDir: string): NodeJS.ProcessEnv => ({ HOME: dataDir, SVC_DATA_DIR: dataDir })

/** Starts the built command by another one, such as `ip netns exec`, with an environment, in its own process. */
export function startCommandIn(within: readonly string[], env: NodeJS.ProcessEnv, ...args: string[]): ChildProcess {
  const [file, ...words] = [...within, process.execPath, program, ...args] as [string, ...string[]]
  return spawn(file, words, { env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Starts the built command with an environment, in its own process. */
export const startCommandWith = (env: NodeJS.ProcessEnv, ...args: string[]): ChildProcess =>
  startCommandIn([], env, ...args)

/** Starts the built command on a data directory. */
export const startCommand = (dataDir: string, ...args: string[]): ChildProcess =>
  startCommandWith(environmentOf(dataDir), ...args)

/** Runs the built command to its end, in a process shared with earlier commands. */
export const runCommandWith = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> =>
  runWarm({ words: args, cwd: process.cwd(), env: environment(env), stdin: '' })

/** The same on a data directory. */
export const runCommand = (dataDir: string, ...args: string[]): Promise<Ended> =>
  runCommandWith(environmentOf(dataDir), ...args)

/** Output and exit code of a started command. */
export async function ended(child: ChildProcess): Promise<Ended> {
  let stdout = ''
  let stderr = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { code, stdout, stderr }
}
