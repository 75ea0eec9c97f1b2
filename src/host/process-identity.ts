import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { isRunning } from './process-status.ts'

// Locks and unfinished files name their process, so that others can tell whether it has ended.

/** A process. The start time is needed because PIDs are reused. */
export interface ProcessIdentity {
  pid: number
  /** For people: machines and containers may share a name. */
  host: string
  began: string
  /** Where the PID is valid, see `processScope`. Missing in records of earlier versions. */
  scope?: string | undefined
}

/** `unknown`: only the age of what it left can tell. */
export type ProcessState = 'running' | 'ended' | 'unknown'

/** The PID namespace outside containers; every Linux gives it this number (`PROC_PID_INIT_INO`). */
const INITIAL_NAMESPACE = 'pid:[4026531836]'

/** Empty where the system does not have it. */
function textOf(read: () => string): string {
  try {
    return read().trim()
  } catch {
    return ''
  }
}

const bootId = (): string => textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1'))

/**
 * Identifies where a PID is valid: on a machine, also after it restarted, or in one run of a container. Containers have
 * a PID namespace of their own, and may share the host name.
 */
export function processScope(): string {
  const namespace = textOf(() => readlinkSync('/proc/self/ns/pid'))
  const isContainer = namespace !== '' && namespace !== INITIAL_NAMESPACE
  const machine = () => textOf(() => readFileSync('/etc/machine-id', 'latin1')) || bootId()
  const scope = isContainer ? [bootId(), namespace] : [hostname(), machine()]
  return createHash('sha256').update(scope.join('\n')).digest('hex').slice(0, 12)
}

/** This process. */
export const ownIdentity = (): Required<ProcessIdentity> => ({
  pid: process.pid,
  host: hostname(),
  began: beginningOf(process.pid) ?? '',
  scope: processScope(),
})

/** Whether a process runs, as far as this one can tell. */
export function processState({ pid, began, scope }: ProcessIdentity): ProcessState {
  if (scope !== processScope()) return 'unknown'
  if (!isRunning(pid)) return 'ended'
  const now = beginningOf(pid)
  return now === undefined || now === began ? 'running' : 'ended'
}

/** The start time of a process (proc_pid_stat(5), field 22) with its boot id; undefined where there is no /proc. */
function beginningOf(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The program name, in parentheses, may contain anything.
    return `${bootId()} ${fields.slice(fields.lastIndexOf(')') + 2).split(' ')[19]}`
  } catch {
    return undefined
  }
}
