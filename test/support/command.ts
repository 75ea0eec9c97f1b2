import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** Starts the built command on a data directory, in UTC and away from this machine's user. */
export const startCommand = (dataDir: string, ...args: string[]): ChildProcess =>
  spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env['PATH'], HOME: dataDir, SVC_DATA_DIR: dataDir, TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** Runs the built command on a data directory to its end. */
export async function runCommand(dataDir: string, ...args: string[]): Promise<Ended> {
  const child = startCommand(dataDir, ...args)
  let stdout = ''
  let stderr = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { code, stdout, stderr }
}
