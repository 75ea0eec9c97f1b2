import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../base/errors.ts'
import { isInstallationFile } from '../../storage/backups/backup-manifest.ts'
import type { DataDirectory } from './data-directory.ts'
import { PENDING_KEY } from './lost-database.ts'
import { OWN_KEY, sharedKeyFile } from './secret-key.ts'

// The files of a data directory besides database and blobs: `config.json`, and those in `keys`.

const isMissing = (error: unknown): boolean => errorCode(error) === 'ENOENT'

const orNothing =
  <T>(nothing: T) =>
  (error: unknown): T => {
    if (!isMissing(error)) throw error
    return nothing
  }

/** Reads these files. A key shared by several servers is included as if it were this one's own. */
export async function installationFiles(
  { path }: DataDirectory,
  env: NodeJS.ProcessEnv,
): Promise<{ path: string; data: Uint8Array }[]> {
  const shared = sharedKeyFile(env)
  const keys = await readdir(join(path, 'keys')).catch(orNothing<string[]>([]))
  const inKeys = new Set([...keys.filter((name) => name !== PENDING_KEY), ...(shared === undefined ? [] : [OWN_KEY])])
  const names = ['config.json', ...[...inKeys].sort().map((name) => `keys/${name}`)].filter(isInstallationFile)
  const placeOf = (name: string) => (shared !== undefined && name === `keys/${OWN_KEY}` ? shared : join(path, name))
  const files = await Promise.all(
    names.map(async (name) => ({ path: name, data: await readFile(placeOf(name)).catch(orNothing(undefined)) })),
  )
  return files.flatMap(({ path: name, data }) => (data ? [{ path: name, data }] : []))
}
