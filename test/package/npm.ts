import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs npm without the network and without scripts, and returns what it printed. */
export async function npm(cwd: string, ...args: string[]): Promise<string> {
  const flags = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', cwd]
  const { stdout } = await promisify(execFile)('npm', [...args, ...flags], {
    cwd,
    timeout: 120_000,
    maxBuffer: 2 ** 26,
  })
  return stdout
}
