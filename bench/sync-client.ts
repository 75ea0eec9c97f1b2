import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { residentMib } from './resident.ts'
import { plainEnv, SVC, type Server } from './server.ts'
import type { SeedFile } from './seeds.ts'
import { TIME } from './seeds.ts'
import type { Workspace } from './workspace.ts'

/** The command of a signed-in user. */
export interface Client {
  /** Runs `svc` to its end and returns its output; throws if it fails. */
  svc(...args: string[]): string
  /** Synchronises a folder; returns the summary. */
  sync(folder: string): Summary
  /** The same, with the peak memory of the process, MiB. */
  syncMeasured(folder: string): Promise<{ summary: Summary; mib: number }>
  /** Requests answered by the server so far. */
  requests(): number
}

export interface Summary {
  in_sync: boolean
  hashed: number
}

/** Sampling interval of memory, ms. */
const LOOK_MS = 20

export function clientOf(workspace: Workspace, { url, log }: Server, { token }: Pick<Account, 'token'>): Client {
  const own = workspace.folder('client')
  const env = { ...plainEnv(), XDG_CONFIG_HOME: own, XDG_STATE_HOME: own, SVC_URL: url, SVC_TOKEN: token }
  const profiling = workspace.profiles ? ['--cpu-prof', `--cpu-prof-dir=${workspace.profiles}`] : []
  const summaryIn = (text: string): Summary => JSON.parse(text.trimEnd().split('\n').at(-1)!) as Summary

  function svc(...args: string[]): string {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...profiling, SVC, ...args], {
      env,
      encoding: 'utf8',
      maxBuffer: 1 << 30,
    })
    if (status !== 0) throw new Error(`svc ${args.join(' ')} ended with ${status}:\n${stderr}`)
    return stdout
  }

  return {
    svc,
    sync: (folder) => summaryIn(svc('sync', folder, '--json')),
    async syncMeasured(folder) {
      const child = spawn(process.execPath, [SVC, 'sync', folder, '--json'], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      workspace.adopt(child)
      let [text, mib] = ['', 0]
      child.stdout.setEncoding('utf8').on('data', (piece: string) => (text = (text + piece).slice(-100_000)))
      const timer = setInterval(() => {
        mib = Math.max(mib, peakOf(child.pid!))
      }, LOOK_MS)
      const [code] = (await once(child, 'close')) as [number]
      clearInterval(timer)
      if (code !== 0) throw new Error(`svc sync ended with ${code}.`)
      return { summary: summaryIn(text), mib }
    },
    requests: () => readFileSync(log, 'utf8').split('\n').length,
  }
}

/** Peak memory of a process so far; 0 if it has ended. */
function peakOf(pid: number): number {
  try {
    return residentMib(pid, 'VmHWM')
  } catch {
    return 0
  }
}

/** Writes the files of an account to a folder. */
export function writeFiles(folder: string, all: readonly Pick<SeedFile, 'folder' | 'name' | 'data'>[]): void {
  for (const { folder: at, name, data } of all) {
    mkdirSync(join(folder, at), { recursive: true })
    const path = join(folder, at, name)
    writeFileSync(path, data!)
    utimesSync(path, TIME / 1_000, TIME / 1_000)
  }
}
