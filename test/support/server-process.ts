import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { startCommandIn } from './command.ts'

/** A server of the built command, in a process of its own. */
export interface ServerProcess {
  url: string
  process: ChildProcess
  /** What it has logged. */
  log(): string
  /** Ends it at once, as with a power cut of the process; does nothing if it has ended. */
  kill(): Promise<void>
}

/** Starts one and waits until it answers; whoever starts it kills it. */
export async function startServerProcess(
  env: NodeJS.ProcessEnv,
  port = '0',
  within: readonly string[] = [],
): Promise<ServerProcess> {
  const process = startCommandIn(within, env, 'serve', '--port', port, '--json', '--log-level', 'error')
  let log = ''
  let said = ''
  process.stderr!.on('data', (text: Buffer) => (log += text.toString()))
  const ended = once(process, 'exit')
  while (!said.includes('\n')) {
    const next = await Promise.race([once(process.stdout!, 'data'), ended.then(() => undefined)])
    if (!next) throw new Error(`A server ended: ${log}`)
    said += String(next[0])
  }
  process.stdout!.resume()
  return {
    url: (JSON.parse(said.split('\n')[0]!) as { url: string }).url,
    process,
    log: () => log,
    async kill() {
      process.kill('SIGKILL')
      await ended
    },
  }
}
