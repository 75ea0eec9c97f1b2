import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** Starts the built command in this environment, in UTC and away from this machine's user. */
export const startCommandWith = (env: NodeJS.ProcessEnv, ...args: string[]): ChildProcess =>
  spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env['PATH'], TZ: 'UTC', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** The same on a data directory. */
export const startCommand = (dataDir: string, ...args: string[]): ChildProcess =>
  startCommandWith({ HOME: dataDir, SVC_DATA_DIR: dataDir }, ...args)

/** Runs it to its end. */
export const runCommand = (dataDir: string, ...args: string[]): Promise<Ended> => ended(startCommand(dataDir, ...args))

/** The same in this environment. */
export const runCommandWith = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> =>
  ended(startCommandWith(env, ...args))

/** What a command that was started prints until it ends, and how it ends. */
export async function ended(child: ChildProcess): Promise<Ended> {
  let stdout = ''
  let stderr = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { code, stdout, stderr }
}
