import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { median } from './figure.ts'
import { duration } from './rounds.ts'
import { numbers } from './samples.ts'
import type { Workspace } from './workspace.ts'

// How long the disk takes to make something durable decides what many figures come to: some disks and virtual machines take
// a twentieth of a millisecond, because they need not wait for anything, an ordinary solid-state disk one or two, others ten.

/** Milliseconds that flushing a small change takes in the temporary folder. */
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

/** Runs this program again with every flush, of all processes, lasting so many milliseconds longer; strace(1) sees to that. */
export async function runWithSlowFlush(ms: number, args: readonly string[]): Promise<number> {
  const calls = 'fsync,fdatasync'
  const delay = ['-e', `trace=${calls}`, '-e', `inject=${calls}:delay_exit=${Math.round(ms * 1_000)}`]
  const flags = ['-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', ...delay]
  const child = spawn('strace', [...flags, process.execPath, process.argv[1]!, ...args], { stdio: 'inherit' })
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}
