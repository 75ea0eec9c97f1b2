import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { makeAccount, withService } from './account.ts'
import type { Figure } from './figure.ts'
import { duration, interleave } from './rounds.ts'
import { plainEnv, startService, SVC } from './server.ts'
import { clientOf } from './sync-client.ts'

const ROUNDS = 21

function run(...args: string[]): void {
  const { status } = spawnSync(process.execPath, args, { env: plainEnv(), stdio: 'ignore' })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}.`)
}

/** Starts Node without a program: the lower limit for any command. */
export const startNode = (): void => run('-e', '0')

const nodeAlone = (): Promise<number> => duration(startNode)

/** Startup time of the command line. */
export const help: Figure = {
  name: 'help',
  unit: 'ms',
  peer: 'node -e 0',
  wanted: { most: 1.6 },
  measure: () => interleave({ ours: () => duration(() => run(SVC, '--help')), peer: nodeAlone, rounds: ROUNDS }),
}

/** Time of a short command of a signed-in user, with the answer of the server. */
const shortCommand = (name: string, ...words: string[]): Figure => ({
  name,
  unit: 'ms',
  peer: 'node -e 0',
  wanted: { most: 2.5 },
  async measure(workspace) {
    const account = await makeAccount(workspace)
    return withService(workspace, account, (server) => {
      const client = clientOf(workspace, server, account)
      return interleave({ ours: () => duration(() => client.svc(...words)), peer: nodeAlone, rounds: ROUNDS })
    })
  },
})

export const whoami = shortCommand('whoami', 'whoami')
export const filesList = shortCommand('files-ls', 'files', 'ls')

/** Processor time of all threads of a process so far, ms. Linux counts it in hundredths of a second. */
function processorTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Processor time of `node -e 0`, ms. */
function processorTimeOfNode(): number {
  const program = 'const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1000))'
  return Number(spawnSync(process.execPath, ['-e', program], { env: plainEnv(), encoding: 'utf8' }).stdout)
}

/** Processor time of a server of an existing data directory until it answers. */
export const start: Figure = {
  name: 'start',
  unit: 'ms of the processor',
  peer: 'node -e 0',
  wanted: { most: 6 },
  missing: () => (process.platform === 'linux' ? undefined : 'Linux'),
  async measure(workspace) {
    const { dataDir } = await makeAccount(workspace)
    return interleave({
      async ours() {
        const server = await startService(workspace, dataDir)
        const time = processorTime(server.pid)
        await server.stop()
        return time
      },
      peer: () => Promise.resolve(processorTimeOfNode()),
      rounds: 9,
    })
  },
}
