import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const driver = fileURLToPath(new URL('./terminal-driver.py', import.meta.url))
const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

/** Whether pseudo-terminals are available. */
export const hasPty = spawnSync('python3', ['-c', 'import pty']).status === 0

/** An input for a command once its output since the last step contains `after`, and after `run`, words of another command. */
export type Step = { after: string; run?: readonly string[] } & (
  { type: string } | { signal: NodeJS.Signals } | { hangup: true }
)

/** Runs the built command on a new terminal to its end; returns a negative code for a signal. */
export async function onTerminal(
  env: Record<string, string>,
  args: readonly string[],
  steps: readonly Step[],
): Promise<{ code: number; output: string }> {
  const command = (words: readonly string[]): string[] => [process.execPath, program, ...words]
  const plan = JSON.stringify({
    command: command(args),
    steps: steps.map(({ run, ...step }) => (run ? { ...step, run: command(run) } : step)),
  })
  const { stdout } = await promisify(execFile)('python3', [driver, plan], { env, encoding: 'utf8' })
  return JSON.parse(stdout) as { code: number; output: string }
}
