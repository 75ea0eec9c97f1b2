import type { Disk } from './disk.ts'

/** Everything below this folder is on a disk in memory. */
export const WORLD = '/simulated'

const disks = new Map<string, Disk>()

export const mountDisk = (disk: Disk): void => void disks.set(disk.mount, disk)

export function unmountAll(): void {
  disks.clear()
  processes = 0
}

/** The disk that a path is on, and the path there; undefined for one of the real machine. */
export function onDisk(path: unknown): { disk: Disk; path: string } | undefined {
  if (typeof path !== 'string' || !path.startsWith(`${WORLD}/`)) return undefined
  const mount = path.split('/', 3).join('/')
  const disk = disks.get(mount)
  return disk && { disk, path: path.slice(mount.length) || '/' }
}

let processes = 0

/** Another process begins: the locks of those before it are nobody's any more. */
export const beginProcess = (): void => void (processes += 1)

/** What Linux says of this process (proc_pid_stat(5)); each run of the engine passes for a process of its own. */
export const processFile = (path: unknown): string | undefined =>
  path === `/proc/${process.pid}/stat` ? `${process.pid} (svc) S ${'0 '.repeat(18)}${processes} 0` : undefined
