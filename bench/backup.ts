import { spawnSync } from 'node:child_process'
import { mkdirSync, openSync, closeSync, fsyncSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeAccount } from './account.ts'
import type { Figure } from './figure.ts'
import { duration, interleave, rate } from './rounds.ts'
import { bytesOf, numbers, sha256Of } from './samples.ts'
import { seedFiles, type SeedFile } from './seeds.ts'
import { plainEnv, SVC } from './server.ts'
import type { Workspace } from './workspace.ts'

const MIB = 1 << 20
const SMALL = 10_000
/** Large files: 1 GiB in total. */
const LARGE = 256
const LARGE_SIZE = 4 * MIB

function run(command: string, args: string[], env: NodeJS.ProcessEnv = plainEnv()): void {
  const { status, stderr } = spawnSync(command, args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stderr}`)
}

const svc = (...args: string[]): void => run(process.execPath, [SVC, ...args])

const hasRestic = (): boolean => spawnSync('restic', ['version'], { stdio: 'ignore' }).status === 0

/** A data directory with 10,000 files of 1 to 16 KiB, stored in the database, and 256 of 4 MiB, stored as blobs. */
async function makeData(workspace: Workspace): Promise<string> {
  const small = numbers(SMALL).map((number): SeedFile => {
    const data = bytesOf(number, 1_024 + ((number * 7_919) % (15 * 1_024)))
    return { folder: `Year ${number % 100}`, name: `${number}.bin`, data, size: data.length, sha256: sha256Of(data) }
  })
  const piece = bytesOf(1, LARGE_SIZE)
  const blobs: { sha256: string; data: Buffer }[] = []
  const large = numbers(LARGE).map((number): SeedFile => {
    const data = Buffer.from(piece)
    data.writeUInt32LE(number)
    const sha256 = sha256Of(data)
    blobs.push({ sha256, data })
    return { folder: 'Large', name: `${number}.bin`, size: LARGE_SIZE, sha256 }
  })
  const { dataDir } = await makeAccount(workspace, (database, user) => seedFiles(database, user, [...small, ...large]))
  for (const { sha256, data } of blobs) {
    const folder = join(dataDir, 'blobs', sha256.slice(0, 2), sha256.slice(2, 4))
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, sha256), data)
  }
  run('sync', [])
  return dataDir
}

/** Writes a tar archive, flushed like a backup. */
function writeTar(file: string, dataDir: string): void {
  run('tar', ['-cf', file, '-C', dataDir, '.'])
  const handle = openSync(file, 'r+')
  fsyncSync(handle)
  closeSync(handle)
}

/** The first backup in a folder. */
export const backupCreate: Figure = {
  name: 'backup-create',
  unit: 'MiB/s',
  peer: 'tar of the same data directory, flushed',
  wanted: { least: 0.8 },
  async measure(workspace) {
    const dataDir = await makeData(workspace)
    const size = (LARGE * LARGE_SIZE + statSync(join(dataDir, 'svc.db')).size) / MIB
    return interleave({
      async ours(round) {
        const to = join(workspace.folder('backup'), `repo-${round}`)
        const speed = await rate(size, () => svc('backup', 'create', '--data-dir', dataDir, '--to', to))
        rmSync(to, { recursive: true })
        return speed
      },
      async peer(round) {
        const file = join(workspace.folder('tar'), `${round}.tar`)
        const speed = await rate(size, () => writeTar(file, dataDir))
        rmSync(file)
        return speed
      },
      rounds: 3,
    })
  },
}

/** A backup without changes since the last one, compared with one into an empty folder. */
export const backupAgain: Figure = {
  name: 'backup-again',
  unit: 'ms',
  peer: 'the first backup',
  wanted: { most: 0.1 },
  async measure(workspace) {
    const dataDir = await makeData(workspace)
    const folder = workspace.folder('backup')
    const create = (to: string) => svc('backup', 'create', '--data-dir', dataDir, '--to', to)
    return interleave({
      // The last backup went to another folder: run one that is not measured.
      async ours() {
        const to = join(folder, 'again')
        create(to)
        return duration(() => create(to))
      },
      async peer(round) {
        const to = join(folder, `first-${round}`)
        const took = await duration(() => create(to))
        rmSync(to, { recursive: true })
        return took
      },
      rounds: 5,
    })
  },
}

/** The same compared with restic. */
export const backupAgainRestic: Figure = {
  name: 'backup-again-restic',
  unit: 'ms',
  peer: 'restic, the same data directory',
  wanted: { most: 1 },
  missing: () => (hasRestic() ? undefined : 'restic is not installed'),
  async measure(workspace) {
    const dataDir = await makeData(workspace)
    const to = join(workspace.folder('backup'), 'repo')
    const create = () => svc('backup', 'create', '--data-dir', dataDir, '--to', to)
    const restic = join(workspace.folder('restic'), 'repo')
    const env = {
      ...plainEnv(),
      RESTIC_PASSWORD: 'bench',
      RESTIC_REPOSITORY: restic,
      RESTIC_CACHE_DIR: `${restic}-cache`,
    }
    run('restic', ['init'], env)
    const peer = () => run('restic', ['backup', dataDir], env)
    create()
    peer()
    return interleave({ ours: () => duration(create), peer: () => duration(peer), rounds: 3 })
  },
}
