import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

const start = (env: NodeJS.ProcessEnv, args: string[]): ChildProcess =>
  spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env['PATH'], TZ: 'UTC', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** Starts the built command on a data directory, in UTC and away from this machine's user. */
export const startCommand = (dataDir: string, ...args: string[]): ChildProcess =>
  start({ HOME: dataDir, SVC_DATA_DIR: dataDir }, args)

/** Runs the built command on a data directory to its end. */
export const runCommand = (dataDir: string, ...args: string[]): Promise<Ended> => ended(startCommand(dataDir, ...args))

/** The same with this environment. */
export const runCommandWith = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> => ended(start(env, args))

async function ended(child: ChildProcess): Promise<Ended> {
  let stdout = ''
  let stderr = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { code, stdout, stderr }
}
