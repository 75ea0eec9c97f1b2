import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Limits shared by all processes of a command. */
interface GroupLimits {
  memory: number
  tasks: number
}

/** Starts a program in a control group: the command prefix, and its environment. */
export interface Launcher {
  before: readonly string[]
  env: Record<string, string>
  /** Whether it changes to the user itself. */
  changesUser: boolean
}

const SYSTEMD_RUN = '/usr/bin/systemd-run'

/**
 * A launcher that runs a program in a systemd scope, whose limits the kernel enforces; undefined without systemd. A
 * service manager may refuse, so it must be tried. The program starts with an empty environment.
 */
export function scopeLauncher(
  { memory, tasks }: GroupLimits,
  user: number | undefined,
  env: NodeJS.ProcessEnv,
): Launcher | undefined {
  const limits = [`MemoryMax=${memory}`, 'MemorySwapMax=0', `TasksMax=${tasks}`, 'CPUWeight=10'].flatMap((one) => [
    '--property',
    one,
  ])
  const scope = ['--scope', '--quiet', '--collect', ...limits]
  const behind = ['--', '/usr/bin/env', '-i']
  if (user !== undefined) {
    if (!existsSync('/run/systemd/system')) return undefined
    const as = [`--uid=${user}`, `--gid=${user}`]
    return { before: [SYSTEMD_RUN, '--system', ...as, ...scope, ...behind], env: {}, changesUser: true }
  }
  const runtime = env['XDG_RUNTIME_DIR']
  if (runtime === undefined || !existsSync(join(runtime, 'systemd', 'private'))) return undefined
  const bus = env['DBUS_SESSION_BUS_ADDRESS']
  return {
    before: [SYSTEMD_RUN, '--user', ...scope, ...behind],
    env: { XDG_RUNTIME_DIR: runtime, ...(bus !== undefined && { DBUS_SESSION_BUS_ADDRESS: bus }) },
    changesUser: false,
  }
}
