import { spawnSync } from 'node:child_process'
import type { Figure } from './figure.ts'
import { duration, interleave } from './rounds.ts'
import { plainEnv, SVC } from './server.ts'

function run(...args: string[]): void {
  const { status } = spawnSync(process.execPath, args, { env: plainEnv(), stdio: 'ignore' })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}.`)
}

/** Starts Node without a program: the lower limit for any command. */
export const startNode = (): void => run('-e', '0')

/** Startup time of the command line. */
export const help: Figure = {
  name: 'help',
  unit: 'ms',
  peer: 'node -e 0',
  wanted: { most: 1.8 },
  measure: () =>
    interleave({
      ours: () => duration(() => run(SVC, '--help')),
      peer: () => duration(startNode),
      rounds: 21,
    }),
}
