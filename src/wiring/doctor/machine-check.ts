import { chmod, lstat, readdir, realpath, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { formatSize } from '../../base/sizes.ts'
import { findingText } from '../../contract/finding-texts.ts'
import type { DataDirectory } from '../installation/data-directory.ts'
import { keepsOwnRows } from '../installation/storage.ts'
import { failure, fine, warning, type DirectoryCheck } from './finding.ts'

// Checks of the machine: files and disk. They need no database.

/** The data directory, and the entries of it and of its key folder; the folder protects the blobs. */
async function entriesOf(directory: DataDirectory): Promise<{ path: string; mode: number; uid: number }[]> {
  const keys = join(directory.path, 'keys')
  const names = await readdir(directory.path)
  const inKeys = names.includes('keys') ? (await readdir(keys)).map((name) => join(keys, name)) : []
  const paths = [directory.path, ...names.map((name) => join(directory.path, name)), ...inKeys]
  return Promise.all(paths.map(async (path) => ({ path, ...(await factsOf(path)) })))
}

/** The mode of a link means nothing, and what it leads to may be gone. */
const factsOf = (path: string): Promise<{ mode: number; uid: number }> =>
  stat(path).then(
    ({ mode, uid }) => ({ mode, uid }),
    async () => ({ mode: 0, uid: (await lstat(path)).uid }),
  )

const fileModes: DirectoryCheck = {
  id: 'file-modes',
  summary: 'only the owner can read the data directory',
  async runChecks({ directory }) {
    if (process.platform === 'win32') return fine(findingText('not_applicable'))
    const open = (await entriesOf(directory)).filter(({ mode }) => mode & 0o077).map(({ path }) => path)
    if (open.length === 0) return fine(findingText('modes_sound'))
    return {
      ...failure(findingText('modes_open', { paths: open.join(', ') }), `chmod go= ${open.join(' ')}`),
      async fix() {
        for (const path of open) await chmod(path, (await stat(path)).mode & 0o700)
      },
    }
  },
}

const fileOwner: DirectoryCheck = {
  id: 'file-owner',
  summary: 'everything in the data directory belongs to the user who runs svc',
  async runChecks({ directory }) {
    const own = process.getuid?.()
    if (own === undefined) return fine(findingText('not_applicable'))
    const foreign = (await entriesOf(directory)).filter(({ uid }) => uid !== own).map(({ path }) => path)
    if (foreign.length === 0) return fine(findingText('owner_sound', { user: own }))
    return failure(findingText('owner_foreign', { paths: foreign.join(', ') }), `chown -R ${own} ${directory.path}`)
  },
}

const STICKY = 0o1000

/** Whether other users could replace a folder in this one. */
function openToOthers({ mode, uid }: { mode: number; uid: number }, own: number): 'foreign' | 'writable' | undefined {
  if (uid !== own && uid !== 0) return 'foreign'
  // The sticky bit prevents users from renaming files of others.
  return mode & 0o022 && !(mode & STICKY) ? 'writable' : undefined
}

/** A folder and its parents up to the root. */
function parentsOf(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [path, ...parentsOf(parent)]
}

const location: DirectoryCheck = {
  id: 'data-location',
  summary: 'nobody else can replace the data directory',
  async runChecks({ directory }) {
    const own = process.getuid?.()
    if (own === undefined) return fine(findingText('not_applicable'))
    const { path } = directory
    const real = await realpath(path)
    for (const parent of new Set([...parentsOf(dirname(path)), ...parentsOf(dirname(real))])) {
      const stats = await stat(parent)
      const problem = openToOthers(stats, own)
      if (problem === 'foreign')
        return warning(
          findingText('location_foreign', { parent, user: stats.uid, path }),
          findingText('remedy_location_foreign', { user: own, parent }),
        )
      if (problem === 'writable')
        return warning(findingText('location_writable', { parent, path }), `chmod go-w ${parent}`)
    }
    if (real === path) return fine(findingText('location_sound', { path }))
    return warning(findingText('location_linked', { path, real }), findingText('remedy_location_linked', { real }))
  },
}

const LEAST_FREE = 1024 ** 3

const diskSpace: DirectoryCheck = {
  id: 'disk-space',
  summary: 'at least 1 GB and some room for new files is free',
  async runChecks({ directory }) {
    const { bavail, bsize, files, ffree } = await statfs(directory.path)
    const free = bavail * bsize
    const found = findingText('disk_free', { size: formatSize(free), path: directory.path })
    if (free < LEAST_FREE) return failure(found, findingText('remedy_disk'))
    // Some file systems do not count inodes; then both are 0.
    if (files > 0 && ffree < files / 50)
      return warning(findingText('disk_few_files', { found, count: ffree }), findingText('remedy_disk_few_files'))
    return fine(found)
  },
}

/** Network file systems (Linux, statfs(2)): SQLite's locks and shared memory are unreliable there. */
const NETWORK = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
])

const fileSystem: DirectoryCheck = {
  id: 'file-system',
  summary: 'the data directory is on a local disk',
  async runChecks({ directory, config }) {
    if (!keepsOwnRows(config)) return fine(findingText('file_system_unused'))
    const { type } = await statfs(directory.path)
    const kind = process.platform === 'linux' ? NETWORK.get(type >>> 0) : undefined
    if (!kind) return fine(findingText('file_system_local'))
    return warning(
      findingText('file_system_network', { path: directory.path, kind }),
      findingText('remedy_file_system'),
    )
  },
}

export const machineChecks: readonly DirectoryCheck[] = [fileModes, fileOwner, location, diskSpace, fileSystem]
