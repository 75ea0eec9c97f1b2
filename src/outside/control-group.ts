import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** What all processes of a command may use together. */
interface GroupLimits {
  memory: number
  tasks: number
}

/** A way to start a program in a control group of its own: what stands before it, and the environment that needs. */
export interface Launcher {
  before: readonly string[]
  env: Record<string, string>
  /** Whether it changes to the user itself. */
  changesUser: boolean
}

const SYSTEMD_RUN = '/usr/bin/systemd-run'

/**
 * The way systemd offers to put a program into a scope, whose limits the kernel keeps; undefined where systemd does not run.
 * Whether it works has to be tried: a service manager may refuse. The program behind it starts with an empty environment.
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
