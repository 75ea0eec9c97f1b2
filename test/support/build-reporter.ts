import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Reporter, TestSpecification } from 'vitest/node'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Inputs of the build. */
const SOURCES = ['src', 'bin', 'package.json', 'package-lock.json'].map((path) => join(root, path))
/** The last file written by the build. */
const BUILT = join(root, 'dist/THIRD-PARTY.txt')

const RUNS_BUILT = /\bbin\/svc\.js\b|\bdist\b/
const IMPORTED = /(?:from|import\()\s*'(\.[^']+)'/g

/** Whether a file, or a test helper that it imports, uses the output of `bin/build.js`. */
function needsBuild(file: string, seen: Set<string>): boolean {
  if (seen.has(file) || !file.startsWith(join(root, 'test')) || !existsSync(file)) return false
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  const imported = [...text.matchAll(IMPORTED)].map(([, path]) => resolve(dirname(file), path!))
  return RUNS_BUILT.test(text) || imported.some((path) => needsBuild(path, seen))
}

/** The last change of a file or of anything in a folder. Removing a file changes its folder. */
function changedAt(path: string): number {
  const stats = statSync(path)
  const inside = stats.isDirectory() ? readdirSync(path).map((name) => changedAt(join(path, name))) : []
  return Math.max(stats.mtimeMs, ...inside)
}

const isStale = (): boolean => !existsSync(BUILT) || Math.max(...SOURCES.map(changedAt)) > statSync(BUILT).mtimeMs

/** Runs the build before the first test, if the run needs it and the sources are newer. */
export class BuildReporter implements Reporter {
  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const seen = new Set<string>()
    if (!specifications.some(({ moduleId }) => needsBuild(moduleId, seen)) || !isStale()) return
    const { status } = spawnSync(process.execPath, ['bin/build.js'], { cwd: root, stdio: 'inherit' })
    if (status !== 0) throw new Error('The build failed, and tests of this run need the built command.')
  }
}
