import { errorCode } from '../../base/errors.ts'
import { DamagedBackup, isBackupId, MAX_MANIFEST, parseManifest, type Manifest } from './backup-manifest.ts'
import { namesIn, openBytes, readAll } from './file-bytes.ts'
import type { PoolKeys } from './object-pool.ts'
import { within } from './repository-path.ts'
import { openSealed } from './stream-cipher.ts'

export const manifestFile = (folder: string, id: string, keys: PoolKeys | undefined): string =>
  within(folder, 'snapshots', `${id}${keys ? '.sealed' : '.json'}`)

const MANIFEST = /\.(json|sealed)$/

/** The file names of all manifests in a repository. */
export const manifestNames = async (folder: string): Promise<string[]> =>
  (await namesIn(within(folder, 'snapshots'))).filter(
    (name) => MANIFEST.test(name) && isBackupId(name.replace(MANIFEST, '')),
  )

/** The ids of all backups in a repository, oldest first. */
export const idsIn = async (folder: string): Promise<string[]> =>
  (await manifestNames(folder)).map((name) => name.replace(MANIFEST, '')).sort()

/** The manifest of a backup. Throws `DamagedBackup`. */
export async function readManifest(folder: string, id: string, keys: PoolKeys | undefined): Promise<Manifest> {
  const path = manifestFile(folder, id, keys)
  const what = `The manifest ${path}`
  const file = await openBytes(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') throw new DamagedBackup(`${what} is missing.`)
    throw error
  })
  try {
    if (file.size > MAX_MANIFEST) throw new DamagedBackup(`${what} is too long.`)
    const plain = keys ? await openSealed(keys.manifest, file, what) : file
    return parseManifest((await readAll(plain.read(0, plain.size))).toString('utf8'), id, what)
  } finally {
    await file.close()
  }
}
