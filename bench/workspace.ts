import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The temporary files and the processes of one run. */
export interface Workspace {
  /** Where servers are to write CPU profiles; undefined for none. */
  profiles: string | undefined
  /** How long a figure of endurance goes on. */
  seconds: number
  /** A new, empty folder. It stays to the end of the run: where many files were just deleted, creating some is slow. */
  folder(name: string): string
  /** Makes sure that a process ends with the run, however that ends. */
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
