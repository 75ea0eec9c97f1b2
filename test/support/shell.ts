import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from '../shape/repository.ts'

interface Place {
  /** The home folder; its `bin` is first in the path and contains `svc`. */
  home: string
  cwd: string
  env: Record<string, string>
}

/** Runs a bash script in which `svc` is the built command. */
export async function runShell(script: string, { home, cwd, env }: Place) {
  const bin = join(home, 'bin')
  await mkdir(bin, { recursive: true })
  await writeFile(join(bin, 'svc'), `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin/svc.js')}' "$@"\n`)
  await chmod(join(bin, 'svc'), 0o755)
  const path = `${bin}:${process.env['PATH']}`
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const options = { cwd, env: { PATH: path, HOME: home, LANG: 'C.UTF-8', ...env }, maxBuffer: 64 * 1024 * 1024 }
    const child = execFile('bash', ['-c', script], options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, stdout, stderr })
    })
    child.stdin!.end()
  })
}
