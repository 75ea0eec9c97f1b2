import { readFileSync, writeFileSync } from 'node:fs'

/** Memory of a process in MiB: current, or the peak since the last `forgetPeak` (Linux only: proc(5)). */
export function residentMib(pid: number, which: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${which}:\\s*(\\d+) kB`).exec(status)![1]) / 1_024
}

/** Resets the peak memory of a process (`VmHWM`). */
export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5')
