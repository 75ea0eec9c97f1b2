import { randomBytes } from 'node:crypto'
import { access, readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { LastBackup, Target } from '../domain/backups/backups.ts'
import { isFile, newArchive, openArchive } from '../storage/backups/archive.ts'
import type { Manifest } from '../storage/backups/manifest.ts'
import { openKey, sealKey } from '../storage/backups/passphrase.ts'
import {
  addToRepository,
  BadRepository,
  createRepository,
  readRepository,
  repositoryAt,
  sealedKeyOf,
  type RepositoryHeader,
} from '../storage/backups/repository.ts'
import type { BackupSource } from '../storage/backups/source.ts'
import type { Backing } from './backing-up.ts'
import { dataDirectoryPath } from './data-directory.ts'
import { assertInstalled, isInstalled } from './installed.ts'
import { keepKey, keptKey } from './installation-files.ts'
import type { Local } from './local.ts'

// Where backups go and come from: a folder that many share, or one archive a backup.

/** How a passphrase is got when one is needed. */
export interface Passphrases {
  /** For something that is being encrypted for the first time. */
  chosen(): Promise<string>
  /** For something that is encrypted already. */
  known(): Promise<string>
  /** What trying one costs, as the binary logarithm of scrypt's N; a second or so without it. */
  work?: number
}

/** Whether a name says that it is an archive. */
export const isArchiveName = (path: string): boolean => /\.tar(\.age)?$/.test(path)

/** Neither a flag nor a setting says where backups are. */
class NoPlace extends Error {
  override name = 'NoPlace'
  readonly exitCode = 2
}

interface TargetWish {
  to: string
  encrypt: boolean
  /** Begins a repository anew even where one stood before. */
  anew: boolean
}

/** The target of a new backup. What is wrong with it is thrown before anything is written. */
export async function backupTarget(
  { domain, directory }: Pick<Backing, 'domain' | 'directory'>,
  { to, encrypt, anew }: TargetWish,
  passphrases: Passphrases,
): Promise<Target> {
  const place = resolve(to)
  const found = await stat(place).catch(() => undefined)
  if (isArchiveName(place) && !found?.isDirectory()) {
    if (found) throw new BadRepository(`${place} is there already and is left as it is: give another name.`, 6)
    await access(join(place, '..')).catch(() => {
      throw new BadRepository(`${place} cannot be written: its folder is not there.`, 5)
    })
    if (encrypt && !place.endsWith('.age'))
      throw new BadRepository(`An encrypted archive is an age file: name it ${place}.age.`, 2)
    const passphrase = place.endsWith('.age') ? await passphrases.chosen() : undefined
    return {
      place,
      encrypted: passphrase !== undefined,
      open: (blobs) => Promise.resolve(newArchive(place, passphrase, blobs)),
    }
  }
  if (found && !found.isDirectory())
    throw new BadRepository(`${place} is a file: give a folder, or a name that ends in .tar.`, 6)

  const last = await domain.backups.lastBackup()
  const header = await repositoryAt(place)
  if (header) return existingTarget(place, header, { domain, directory }, encrypt, passphrases)
  if (!anew && wasThere(last, place))
    throw new BadRepository(
      `The backups that were in ${place} are gone: is the disk mounted? To begin anew there, add --new.`,
      8,
    )
  const passphrase = encrypt ? await passphrases.chosen() : undefined
  return {
    place,
    encrypted: encrypt,
    async open(blobs) {
      const made = passphrase === undefined ? undefined : randomBytes(32)
      const sealed = made && (await sealKey(made, passphrase!, passphrases.work))
      const header = await createRepository(place, domain.instance.identity.server_id, sealed)
      if (!made) return addToRepository(place, header, undefined, blobs)
      // Somebody else may have begun it in the same moment, with another key.
      const stored = await sealedKeyOf(place)
      const key = Buffer.from(sealed!).equals(stored) ? made : await openKey(stored, passphrase!)
      await keepKey(directory.path, header.repository, key)
      return addToRepository(place, header, key, blobs)
    },
  }
}

const wasThere = (last: LastBackup | undefined, place: string): boolean =>
  last?.place === place && !isArchiveName(place)

async function existingTarget(
  place: string,
  header: RepositoryHeader,
  { domain, directory }: Pick<Backing, 'domain' | 'directory'>,
  encrypt: boolean,
  passphrases: Passphrases,
): Promise<Target> {
  if (header.server_id !== domain.instance.identity.server_id)
    throw new BadRepository(`${place} holds the backups of another server: give a folder of its own.`, 8)
  if (encrypt && !header.encrypted)
    throw new BadRepository(`The backups in ${place} were begun without encryption: give another folder.`, 6)
  let key: Uint8Array | undefined
  if (header.encrypted) {
    key = await keptKey(directory.path, header.repository)
    if (!key) {
      key = await openKey(await sealedKeyOf(place), await passphrases.known())
      await keepKey(directory.path, header.repository, key)
    }
  }
  return { place, encrypted: header.encrypted, open: (blobs) => addToRepository(place, header, key, blobs) }
}

export interface BackupFolder {
  folder: string
  header: RepositoryHeader
  key: Uint8Array | undefined
}

export interface Seeking {
  /** Folder of backups; without one, the setting of the data directory says it. */
  from: string | undefined
  /** `--data-dir`, where it is not the target of the command. */
  dataDir: string | undefined
  env: NodeJS.ProcessEnv
}

/** Runs `work` with the installation of this machine, or with undefined where there is none; none is made. */
export async function withInstallation<T>(
  { dataDir, env }: Pick<Seeking, 'dataDir' | 'env'>,
  work: (local: Local | undefined) => Promise<T>,
): Promise<T> {
  if (!(await isInstalled(dataDirectoryPath(dataDir, env), env))) return work(undefined)
  const { openLocal } = await import('./local.ts')
  const local = await openLocal({ dataDir, env })
  try {
    return await work(local)
  } finally {
    await local.close()
  }
}

/** The path of the folder of backups that a flag names, or the settings. Throws `NoPlace` and `NoDataDirectory`. */
async function folderPath(seeking: Seeking): Promise<string> {
  const setting = async () =>
    withInstallation(seeking, async (local) => (await local?.domain.instance.settings.values())?.['backup.to'])
  const place = seeking.from ?? ((await setting()) || undefined)
  // Whoever names an installation means its settings.
  if (place === undefined && seeking.dataDir !== undefined)
    await assertInstalled(dataDirectoryPath(seeking.dataDir, seeking.env), seeking.env)
  if (place === undefined) throw new NoPlace('Say where the backups are: --from DIR, or svc config set backup.to DIR.')
  return resolve(place)
}

const isEmptyFolder = (path: string): Promise<boolean> =>
  readdir(path).then(
    (names) => names.length === 0,
    () => false,
  )

/** The folder of backups as `folderPath` finds it. Throws `BadRepository` where there are none, or no folder. */
export async function backupFolder(seeking: Seeking, passphrases: Passphrases): Promise<BackupFolder> {
  return openFolder(await folderPath(seeking), seeking, passphrases)
}

async function openFolder(
  folder: string,
  seeking: Pick<Seeking, 'dataDir' | 'env'>,
  passphrases: Passphrases,
): Promise<BackupFolder> {
  const header = await repositoryAt(folder)
  if (!header) throw new BadRepository(`There are no backups in ${folder}.`, 5)
  if (!header.encrypted) return { folder, header, key: undefined }
  const kept = await keptKey(dataDirectoryPath(seeking.dataDir, seeking.env), header.repository)
  return { folder, header, key: kept ?? (await openKey(await sealedKeyOf(folder), await passphrases.known())) }
}

/** What `svc backup list` shows: every backup of a folder, oldest first; none of an empty one. */
export async function listBackups(
  seeking: Seeking,
  passphrases: Passphrases,
): Promise<{ place: string; manifests: Manifest[] }> {
  const place = await folderPath(seeking)
  if (await isEmptyFolder(place)) return { place, manifests: [] }
  const { header, key } = await openFolder(place, seeking, passphrases)
  const source = readRepository(place, header, key)
  try {
    const manifests: Manifest[] = []
    for (const id of await source.ids()) manifests.push(await source.manifest(id))
    return { place, manifests }
  } finally {
    await source.close()
  }
}

/** Backups to read from: the archive that `backup` names, or else a folder. */
export async function backupSource(
  backup: string | undefined,
  seeking: Seeking,
  passphrases: Passphrases,
): Promise<BackupSource> {
  if (backup !== undefined && (isArchiveName(backup) || (await isFile(backup)))) {
    const path = resolve(backup)
    if (!(await isFile(path))) throw new BadRepository(`There is no file ${path}.`, 5)
    return openArchive(path, passphrases.known)
  }
  const { folder, header, key } = await backupFolder(seeking, passphrases)
  return readRepository(folder, header, key)
}

/** The id that a name means: an id, the beginning of exactly one, `latest`, or whatever an archive holds. */
export async function backupNamed(source: BackupSource, name: string): Promise<string> {
  const ids = await source.ids()
  if (ids.length === 0) throw new BadRepository(`There is no backup in ${source.place} yet.`, 5)
  if (name === 'latest' || isArchiveName(name) || (ids.length === 1 && resolve(name) === source.place))
    return ids.at(-1)!
  const matching = ids.includes(name) ? [name] : ids.filter((id) => id.startsWith(name))
  if (matching.length > 1)
    throw new BadRepository(
      `"${name}" may be ${matching.slice(0, 3).join(', ')}${matching.length > 3 ? ', …' : ''}: give more of the id.`,
      2,
    )
  if (matching.length === 0)
    throw new BadRepository(`There is no backup "${name}" in ${source.place}: svc backup list shows them all.`, 5)
  return matching[0]!
}
