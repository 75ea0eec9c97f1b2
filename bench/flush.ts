import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { median } from './figure.ts'
import { duration } from './rounds.ts'
import { numbers } from './samples.ts'
import type { Workspace } from './workspace.ts'

// The time of a flush dominates many figures: some disks and virtual machines take 0.05 ms because they do not wait for
// anything, an ordinary solid-state disk one or two, others ten.

/** Time to flush a small change in the temporary folder, ms. */
export async function flushTime(workspace: Workspace): Promise<number> {
  const file = openSync(join(workspace.folder('flush'), 'file'), 'w')
  try {
    const times: number[] = []
    for (const number of numbers(50)) {
      writeSync(file, `${number}`.padStart(4_096))
      times.push(await duration(() => fdatasyncSync(file)))
    }
    return median(times)
  } finally {
    closeSync(file)
  }
}

/** Runs this program again with every flush of all processes delayed by some milliseconds, using strace(1). */
export async function runWithSlowFlush(ms: number, args: readonly string[]): Promise<number> {
  const calls = 'fsync,fdatasync'
  const delay = ['-e', `trace=${calls}`, '-e', `inject=${calls}:delay_exit=${Math.round(ms * 1_000)}`]
  const flags = ['-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', ...delay]
  const child = spawn('strace', [...flags, process.execPath, process.argv[1]!, ...args], { stdio: 'inherit' })
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}
