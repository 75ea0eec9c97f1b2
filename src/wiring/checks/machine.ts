import { chmod, lstat, readdir, realpath, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { formatSize } from '../../base/sizes.ts'
import type { Local } from '../local.ts'
import { keepsOwnRows } from '../storage.ts'
import { failure, fine, warning, type Check } from './finding.ts'

// The machine below the service: its files, its disk, its clock.

/** The data directory and what lies directly in it and in its folder of keys; blobs inherit the folder's protection. */
async function entriesOf({ directory }: Local): Promise<{ path: string; mode: number; uid: number }[]> {
  const keys = join(directory.path, 'keys')
  const names = await readdir(directory.path)
  const inKeys = names.includes('keys') ? (await readdir(keys)).map((name) => join(keys, name)) : []
  const paths = [directory.path, ...names.map((name) => join(directory.path, name)), ...inKeys]
  return Promise.all(paths.map(async (path) => ({ path, ...pick(await lstat(path)) })))
}

const pick = ({ mode, uid }: { mode: number; uid: number }) => ({ mode, uid })

const fileModes: Check = {
  id: 'file-modes',
  summary: 'nobody but the owner can read the data directory',
  async look(local) {
    if (process.platform === 'win32') return fine('not applicable here')
    const open = (await entriesOf(local)).filter(({ mode }) => mode & 0o077).map(({ path }) => path)
    if (open.length === 0) return fine('only the owner can read the data directory')
    return {
      ...failure(`others can read ${open.join(', ')}`, `chmod go= ${open.join(' ')}`),
      async fix() {
        for (const path of open) await chmod(path, (await lstat(path)).mode & 0o700)
      },
    }
  },
}

const fileOwner: Check = {
  id: 'file-owner',
  summary: 'everything in the data directory belongs to the user who runs svc',
  async look(local) {
    const own = process.getuid?.()
    if (own === undefined) return fine('not applicable here')
    const foreign = (await entriesOf(local)).filter(({ uid }) => uid !== own).map(({ path }) => path)
    if (foreign.length === 0) return fine(`everything belongs to user ${own}`)
    return failure(`${foreign.join(', ')} belongs to somebody else`, `chown -R ${own} ${local.directory.path}`)
  },
}

const STICKY = 0o1000

/** Whether others could put another folder in the place of what is in this one. */
function openToOthers({ mode, uid }: { mode: number; uid: number }, own: number): string | undefined {
  if (uid !== own && uid !== 0) return `belongs to user ${uid}`
  // The sticky bit keeps users from renaming what belongs to others.
  return mode & 0o022 && !(mode & STICKY) ? 'can be written by others' : undefined
}

/** A folder and those it lies in, up to the root. */
function parentsOf(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [path, ...parentsOf(parent)]
}

const location: Check = {
  id: 'data-location',
  summary: 'nobody else can put another folder in the place of the data directory',
  async look({ directory }) {
    const own = process.getuid?.()
    if (own === undefined) return fine('not applicable here')
    const { path } = directory
    const real = await realpath(path)
    for (const parent of new Set([...parentsOf(dirname(path)), ...parentsOf(dirname(real))])) {
      const flaw = openToOthers(await stat(parent), own)
      if (flaw !== undefined)
        return warning(
          `${parent} ${flaw}, who could put another folder in the place of ${path}`,
          flaw.startsWith('belongs') ? `chown ${own} ${parent}, or move the data directory` : `chmod go-w ${parent}`,
        )
    }
    if (real === path) return fine(`${path} is reached without links`)
    return warning(
      `${path} leads to ${real}: whoever changes a link on the way gives svc another data directory`,
      `use --data-dir ${real} (SVC_DATA_DIR), or mount the folder where it is expected`,
    )
  },
}

const LEAST_FREE = 1024 ** 3

const diskSpace: Check = {
  id: 'disk-space',
  summary: 'at least 1 GB and some room for new files is free',
  async look({ directory }) {
    const { bavail, bsize, files, ffree } = await statfs(directory.path)
    const free = bavail * bsize
    const found = `${formatSize(free)} free in ${directory.path}`
    if (free < LEAST_FREE) return failure(found, 'free some space, or move the data directory to a larger disk')
    // Some file systems count no files; then both are 0.
    if (files > 0 && ffree < files / 50)
      return warning(
        `${found}, but only ${ffree} more files fit`,
        'remove files elsewhere on that disk, or use another',
      )
    return fine(found)
  },
}

/** File systems over a network (Linux, statfs(2)): SQLite's locks and shared memory cannot be trusted there. */
const NETWORK = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
])

const fileSystem: Check = {
  id: 'file-system',
  summary: 'the data directory is on a local disk',
  async look({ directory, config }) {
    if (!keepsOwnRows(config)) return fine('no rows are in the data directory')
    const { type } = await statfs(directory.path)
    const kind = process.platform === 'linux' ? NETWORK.get(type >>> 0) : undefined
    if (!kind) return fine('the data directory is on a local file system')
    return warning(
      `${directory.path} is on ${kind}, where the locks of a database may not hold`,
      'move the data directory to a local disk',
    )
  },
}

// Below this the clock is certainly wrong: the program itself is younger.
const EARLIEST = Date.UTC(2026, 0, 1)

/** How far the newest entry of the log may lie in the future, ms: several servers share one log. */
const TOLERANCE = 5 * 60_000

const clock: Check = {
  id: 'clock',
  summary: 'the clock is right: neither years off nor set back',
  async look({ domain }) {
    const now = Date.now()
    const remedy = 'set the clock, and keep it right with an NTP client'
    const [newest] = await domain.instance.audit.list({ limit: 1 })
    if (now < EARLIEST) return failure(`it is not ${new Date(now).toISOString()}`, remedy)
    if (newest !== undefined && newest.at > now + TOLERANCE) {
      const [then, here] = [newest.at, now].map((at) => new Date(at).toISOString())
      return failure(`something was logged at ${then}, and now it is ${here}: one of the two is wrong`, remedy)
    }
    return fine(new Date(now).toISOString())
  },
}

export const machineChecks: readonly Check[] = [fileModes, fileOwner, location, diskSpace, fileSystem, clock]
