import { makeFolder } from '../../host/folder-creation.ts'
import { access, constants, mkdir, readdir, realpath, rename, rm, rmdir, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { userInfo } from 'node:os'
import { systemClock } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import { formatSize } from '../../base/sizes.ts'
import { errorCode, DiskFull, fromSystemError } from '../../base/errors.ts'
import { rebuild, type JobContext, type Lost } from '../../domain/backups/backups.ts'
import { makeAudit } from '../../domain/instance/instance.ts'
import { shapes } from '../../domain/sync/sync.ts'
import { syncFolder, writeDurably } from '../../host/durable-files.ts'
import { isRunning } from '../../host/process-status.ts'
import type { Manifest } from '../../storage/backups/backup-manifest.ts'
import { BadRepository } from '../../storage/backups/repository.ts'
import type { BackupSource } from '../../storage/backups/source.ts'
import { openDisk } from '../../storage/contents/blobs/disk.ts'
import { migrate } from '../../storage/engine/migrations/migrate.ts'
import { holdersOf } from '../../storage/instance/integrity-check.ts'
import { putRecord, releaseBackups } from '../../storage/instance/backup-records.ts'
import { beginEpoch } from '../../storage/instance/restored.ts'
import { storedSettings } from '../../storage/instance/settings.ts'
import { ensureTables } from '../../storage/engine/synchronised-tables.ts'
import { openSqlite } from '../../storage/engine/sqlite.ts'
import { PLACES } from '../installation/storage.ts'

export interface LostContent {
  sha256: string
  /** Who has it, and under which path: `ada: /letters/june.txt`. */
  used_by: string[]
}

export interface Restored {
  manifest: Manifest
  /** `missing` are contents that could not be read when the backup was made. */
  lost: { contents: LostContent[]; missing: LostContent[]; files: string[] }
  target: string
  /** Devices that have to sign in again. */
  devices: number
  epoch: string
  /** Whether it has a schedule of backups, which is paused. */
  isScheduled: boolean
}

/** Free space required beyond the size of the backup, in bytes: the database grows during migrations. */
const RESERVE = 64 << 20

const refusal = (text: string): BadRepository => new BadRepository(text, 6)

/** Where a restore is assembled, and how it becomes the data directory. */
interface Site {
  work: string
  publish(): Promise<void>
}

const MARK = '.restore-'

/** Whether a restore whose process is gone left a folder. */
function isAbandoned(name: string): boolean {
  const pid = Number(/\.restore-(\d+)-[0-9a-f]+$/.exec(name)?.[1])
  return Number.isSafeInteger(pid) && !isRunning(pid)
}

async function clearAbandoned(folder: string, prefix: string): Promise<boolean> {
  const left = (await readdir(folder)).filter((name) => name.startsWith(prefix) && isAbandoned(name))
  for (const name of left) await rm(join(folder, name), { recursive: true, force: true })
  return left.length > 0
}

const targetExists = (target: string): BadRepository =>
  refusal(`${target} is not empty: restore to a new or empty folder.`)

/** Refuses a target that is not empty; removes the remains of a killed restore. */
async function clearTarget(target: string): Promise<void> {
  const names = () => readdir(target).then((all) => all.filter((name) => name !== 'lost+found'))
  const before = await names()
  if (before.length === 0) return
  const isInterrupted = !before.includes('svc.db') && before.some(isAbandoned)
  const parts = ['blobs', 'keys', 'config.json']
  if (!isInterrupted || before.some((name) => !isAbandoned(name) && !parts.includes(name))) throw targetExists(target)
  for (const name of before.filter((one) => parts.includes(one)))
    await rm(join(target, name), { recursive: true, force: true })
  await clearAbandoned(target, MARK)
}

/** Whether a folder can be replaced by a sibling: not if it is a mount point, or its parent is not writable. */
async function isReplaceable(target: string, parent: string): Promise<boolean> {
  if ((await stat(target)).dev !== (await stat(parent)).dev) return false
  return access(parent, constants.W_OK).then(
    () => true,
    () => false,
  )
}

/** Prepares a folder beside the target, or inside it if it cannot be replaced as a whole. */
async function openSite(path: string): Promise<Site & { target: string }> {
  const found = await stat(path).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error
    return undefined
  })
  if (found && !found.isDirectory()) throw refusal(`${path} is not a folder: restore to a new or empty one.`)
  const target = found ? await realpath(path) : path
  const parent = dirname(target)
  if (found) await clearTarget(target)
  else await makeFolder(parent, 0o700)
  const mark = `${MARK}${process.pid}-${randomHex(4)}`

  if (found && !(await isReplaceable(target, parent))) {
    const work = join(target, mark)
    await mkdir(work, { mode: 0o700 })
    return {
      target,
      work,
      async publish() {
        // The database last: a folder without one is not a data directory yet, and the next attempt clears it.
        const order = ['blobs', 'keys', 'config.json', 'svc.db']
        const made = await readdir(work)
        for (const name of order.filter((one) => made.includes(one))) await rename(join(work, name), join(target, name))
        await rm(work, { recursive: true, force: true })
        await syncFolder(target)
      },
    }
  }
  await clearAbandoned(parent, `.${basename(target)}${MARK}`)
  const work = join(parent, `.${basename(target)}${mark}`)
  await mkdir(work, { mode: 0o700 })
  return {
    target,
    work,
    async publish() {
      await syncFolder(work)
      // Windows cannot rename onto a folder, not even an empty one.
      if (process.platform === 'win32' && found) await rmdir(target)
      await rename(work, target).catch((error: unknown) => {
        throw ['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errorCode(error)) ? targetExists(target) : error
      })
      await syncFolder(parent)
    },
  }
}

async function assertRoom(folder: string, target: string, { totals }: Manifest): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const [needed, free] = [totals.bytes + RESERVE, bavail * bsize]
  if (free < needed)
    throw new DiskFull(
      `This needs ${formatSize(needed)}, and the disk of ${target} has ${formatSize(free)} left: choose another disk.`,
    )
}

/** Most files that are named for one lost content. */
const HOLDERS = 1_000

/** Migrates a restored database and gives it a new identity. */
async function settle(
  file: string,
  manifest: Manifest,
  { keepDevices, lost }: { keepDevices: boolean; lost: readonly string[] },
): Promise<{ devices: number; epoch: string; isScheduled: boolean; contents: LostContent[]; missing: LostContent[] }> {
  const database = openSqlite(file)
  try {
    await migrate(database)
    await ensureTables(database, shapes)
    const operator = `cli:${process.getuid?.() ?? userInfo().username}`
    const audit = makeAudit({ database, clock: systemClock, operator })
    const named = async (hashes: readonly string[]): Promise<LostContent[]> => {
      const contents: LostContent[] = []
      for (const sha256 of hashes) contents.push({ sha256, used_by: await holdersOf(database.read, sha256, HOLDERS) })
      return contents
    }
    const [contents, missing] = [await named(lost), await named(manifest.missing)]
    const begun = await database.write('instance', async (tx) => {
      const epoch = await beginEpoch(tx, { keepDevices })
      // A copy must not write to the backups of the original.
      await putRecord(tx, 'paused', { id: manifest.id, at: Date.now() })
      await putRecord(tx, 'job', undefined)
      await releaseBackups(tx, () => true)
      const detail = {
        id: manifest.id,
        from_epoch: manifest.epoch,
        kept_devices: keepDevices,
        devices_ended: epoch.devices,
        ...(lost.length > 0 ? { lost_contents: lost.length } : {}),
      }
      await audit.record(tx, { kind: 'backup.restored', detail })
      return epoch
    })
    return { ...begun, contents, missing, isScheduled: (await storedSettings(database.read)).has('backup.schedule') }
  } finally {
    await database.close()
  }
}

/** A restored data directory holds its own rows and contents, wherever they were before. */
function withoutPlaces(config: Uint8Array): Uint8Array {
  const values = JSON.parse(Buffer.from(config).toString()) as Record<string, unknown>
  if (!PLACES.some((name) => name in values)) return config
  for (const name of PLACES) delete values[name]
  return Buffer.from(`${JSON.stringify(values, null, 2)}\n`)
}

interface RestoreOptions {
  target: string
  keepDevices: boolean
  /** Restores what can be read where objects are damaged or missing; the database and the keys must be sound. */
  isPartial?: boolean
}

/** The new data directory appears only after all checks. After an error the target is unchanged; repeat the command. */
export async function restore(
  source: BackupSource,
  id: string,
  { target: path, keepDevices, isPartial = false }: RestoreOptions,
  job: JobContext = {},
): Promise<Restored> {
  const manifest = await source.manifest(id)
  process.umask(0o077)
  const { target, work, publish } = await openSite(resolve(path))
  try {
    await assertRoom(work, target, manifest)
    const blobs = await openDisk(join(work, 'blobs'))
    const database = join(work, 'svc.db')
    let lost: Lost
    try {
      const write = async (name: string, data: Uint8Array): Promise<void> => {
        await makeFolder(dirname(join(work, name)), 0o700)
        await writeDurably(join(work, name), name === 'config.json' ? withoutPlaces(data) : data)
      }
      lost = await rebuild(source, manifest, { database, blobs, write }, { ...job, isPartial })
    } finally {
      await blobs.close()
    }
    const { contents, missing, ...begun } = await settle(database, manifest, { keepDevices, lost: lost.contents })
    await publish()
    return { manifest, target, lost: { contents, missing, files: lost.files }, ...begun }
  } catch (error) {
    await rm(work, { recursive: true, force: true })
    throw fromSystemError(error, target)
  }
}
