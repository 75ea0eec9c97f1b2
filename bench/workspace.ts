import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Temporary files and processes of a run. */
export interface Workspace {
  /** Folder for CPU profiles of servers; undefined for none. */
  profiles: string | undefined
  /** Duration of endurance figures, seconds. */
  seconds: number
  /** A new, empty folder. It is kept until the end of the run: creating files is slow after many were deleted. */
  folder(name: string): string
  /** Ends a process with the run, however the run ends. */
  adopt(child: ChildProcess): void
  clear(): void
}

export function openWorkspace({ profiles, seconds }: Pick<Workspace, 'profiles' | 'seconds'>): Workspace {
  const root = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const children = new Set<ChildProcess>()
  let folders = 0
  return {
    profiles,
    seconds,
    folder(name) {
      const path = join(root, `${name}-${++folders}`)
      mkdirSync(path, { mode: 0o700 })
      return path
    },
    adopt(child) {
      children.add(child)
      child.once('exit', () => children.delete(child))
    },
    clear() {
      for (const child of children) child.kill('SIGKILL')
      rmSync(root, { recursive: true, force: true })
    },
  }
}
