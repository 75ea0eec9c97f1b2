import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Workspace } from '../../workspace.ts'
import { monitor, type Report, type Watched } from './monitor-program.ts'

/** Starts a monitor; the result ends it and returns its report. */
export async function watchService(workspace: Workspace, watched: Watched): Promise<() => Promise<Report>> {
  const program = `(${monitor.toString()})(${JSON.stringify(watched)})`
  const child = spawn(process.execPath, ['--eval', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  workspace.adopt(child)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const line = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done) throw new Error('The monitor ended early.')
    return value
  }
  const exit = once(child, 'exit')
  await line()
  return async () => {
    child.stdin.end()
    const report = JSON.parse(await line()) as Report
    // JSON has no infinite numbers: the server did not answer.
    report.stall ??= Infinity
    await exit
    return report
  }
}
