import { randomBytes } from 'node:crypto'
import { access, readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { iso, isFuture } from '../../base/clock.ts'
import { commandLine } from '../../base/shell-words.ts'
import type { Target } from '../../domain/backups/backups.ts'
import { isFile, newArchive, openArchive } from '../../storage/backups/archive.ts'
import { backupTime, DamagedBackup, type Manifest } from '../../storage/backups/backup-manifest.ts'
import { openKey, sealKey } from '../../storage/backups/passphrase.ts'
import {
  addToRepository,
  BadRepository,
  createRepository,
  NoBackups,
  readableHeader,
  readRepository,
  repositoryAt,
  type ReadableHeader,
  type RepositoryHeader,
} from '../../storage/backups/repository.ts'
import { sealedKeyProblem, sealedKeyOf } from '../../storage/backups/sealed-key.ts'
import type { BackupSource } from '../../storage/backups/source.ts'
import { idsIn } from '../../storage/backups/stored-manifests.ts'
import { anotherPlace, isBucket, repositoryName } from '../../storage/backups/repository-path.ts'
import { makeLockedFolder } from '../../host/temporary-folder.ts'
import { transientTables } from '../../storage/instance/restored.ts'
import { chaptersIn } from '../../storage/backups/stream-files.ts'
import { openMoment, type MomentSource } from '../../storage/backups/stream-moment.ts'
import type { BackupContext } from './backup-context.ts'
import { dataDirectoryPath } from '../installation/data-directory.ts'
import { assertInstalled, isInstalled } from '../installation/installation-check.ts'
import { keepKey, keptKey } from '../installation/backup-keys.ts'
import { openPlace } from '../installation/backup-place.ts'
import { environment } from '../config/environment.ts'
import type { Local } from '../local-domain.ts'

// Where backups are written and read: a shared folder or bucket, or one archive per backup.

/** The name of a folder or bucket of backups, which can be used until this process, that of a command, ends. Throws `BadS3Location`. */
export const placeOf = (text: string, env = environment): string => openPlace(text, env).place

export { anotherPlace, isBucket }

/** How to get a passphrase when one is needed. */
export interface Passphrases {
  /** For new encryption. */
  chosen(): Promise<string>
  /** For existing encryption; of the backups in `place`, to say so if there is nobody to ask. */
  known(place?: string): Promise<string>
  /** Whether it was given explicitly: it is tested then, also where the key is kept. */
  isGiven?: boolean
  /** The binary logarithm of scrypt's N; about a second by default. */
  work?: number
}

export const isArchiveName = (path: string): boolean => !isBucket(path) && /\.tar(\.age)?$/.test(path)

/** Neither a flag nor a setting names a folder of backups. */
class NoPlace extends Error {
  override name = 'NoPlace'
  readonly exitCode = 2
  readonly reason = 'usage'
}

/** An encrypted backup cannot be stored in a folder without encryption. */
class NotEncrypted extends BadRepository {
  override name = 'NotEncrypted'
}

interface TargetOptions {
  to: string
  encrypt: boolean
  /** Reads every object of earlier backups that is used again. */
  recheck?: boolean
  /** Start a new repository even where one existed before. */
  startsOver: boolean
  /** The key of another folder, for a new one: the passphrase of that folder opens both. */
  sameKey?: SealedKey | undefined
}

interface SealedKey {
  sealed: Uint8Array
  key: Uint8Array
}

/** The key of an encrypted folder of backups. Throws `DamagedBackup` if no passphrase could open its copy. */
export async function sealedKeyIn(
  folder: string,
  seeking: Pick<Seeking, 'dataDir' | 'env'>,
  passphrases: Passphrases,
): Promise<SealedKey> {
  const sealed = await sealedKeyOf(folder)
  const { key } = await openFolder(folder, seeking, passphrases)
  return { sealed, key: key! }
}

/** The destination of a new backup. Problems are thrown before anything is written. */
export async function backupTarget(
  { domain, directory }: Pick<BackupContext, 'domain' | 'directory'>,
  { to, encrypt, startsOver, recheck = false, sameKey }: TargetOptions,
  passphrases: Passphrases,
): Promise<Target> {
  const place = placeOf(to)
  const found = isBucket(place) ? undefined : await stat(place).catch(() => undefined)
  if (isArchiveName(place) && !found?.isDirectory()) {
    if (found) throw new BadRepository(`${place} already exists and is left as it is: give another name.`, 6)
    await access(join(place, '..')).catch(() => {
      throw new BadRepository(`${place} cannot be written: its folder does not exist.`, 5)
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

  const header = await repositoryAt(place)
  if (header) return existingTarget(place, header, { domain, directory }, { encrypt, recheck }, passphrases)
  if (!startsOver && !isArchiveName(place) && (await domain.backups.lastBackupIn(place)))
    throw new BadRepository(
      `The backups that were in ${place} are gone${isBucket(place) ? '.' : ': is the disk mounted?'} To start over there, add --new.`,
      8,
    )
  const passphrase = encrypt && !sameKey ? await passphrases.chosen() : undefined
  return {
    place,
    encrypted: encrypt,
    async open(blobs) {
      const made = sameKey?.key ?? (passphrase === undefined ? undefined : randomBytes(32))
      const sealed = made && (sameKey?.sealed ?? (await sealKey(made, passphrase!, passphrases.work)))
      const header = await createRepository(place, domain.instance.identity.server_id, sealed)
      if (!made) return addToRepository(place, header, undefined, blobs)
      // Another process may have created it at the same moment, with another key.
      const stored = await sealedKeyOf(place)
      const key = Buffer.from(sealed!).equals(stored)
        ? made
        : await openKey(stored, passphrase ?? (await passphrases.known()))
      await keepKey(directory.path, header.repository, key)
      return addToRepository(place, header, key, blobs)
    },
  }
}

async function existingTarget(
  place: string,
  header: RepositoryHeader,
  { domain, directory }: Pick<BackupContext, 'domain' | 'directory'>,
  { encrypt, recheck }: Pick<TargetOptions, 'encrypt' | 'recheck'>,
  passphrases: Passphrases,
): Promise<Target> {
  if (header.server_id !== domain.instance.identity.server_id)
    throw new BadRepository(`${place} holds the backups of another server: give ${anotherPlace(place)}.`, 8)
  if (encrypt && !header.encrypted)
    throw new NotEncrypted(`The backups in ${place} were started without encryption: give ${anotherPlace(place)}.`, 6)
  let key: Uint8Array | undefined
  let problem: string | undefined
  if (header.encrypted) {
    key = await keptKey(directory.path, place, header.repository)
    if (key && !passphrases.isGiven) problem = await sealedKeyProblem(place)
    else {
      key = await openKey(await sealedKeyOf(place), await passphrases.known(place))
      await keepKey(directory.path, header.repository, key)
    }
  }
  const missing = await domain.backups.missingBackup(place, () => idsIn(place))
  const problems = [problem, missing && lastMissingText(missing, place)].filter((text) => text !== undefined)
  return {
    place,
    encrypted: header.encrypted,
    problem: problems.length > 0 ? problems.join(' ') : undefined,
    open: (blobs) => addToRepository(place, header, key, blobs, recheck ? 'all' : undefined),
  }
}

export interface BackupFolder {
  folder: string
  header: ReadableHeader
  key: Uint8Array | undefined
}

export interface Seeking {
  /** Reads a name of a moment in a stream; `at` is undefined for its end. */
  momentOf?: (name: string) => { at: number | undefined } | undefined
  /** Folder for the database of a moment. */
  temp?: string | undefined
  /** Folder of backups; by default that of the settings. */
  from: string | undefined
  /** `--data-dir`, unless it is the destination of the command. */
  dataDir: string | undefined
  env: NodeJS.ProcessEnv
}

export const lastMissingText = (id: string, place: string): string =>
  `The last backup ${id} is missing in ${place}: somebody removed it, or an older copy of the backups is there.`

/** Runs `work` with the installation of this machine, or with undefined if there is none; never creates one. */
export async function withInstallation<T>(
  { dataDir, env }: Pick<Seeking, 'dataDir' | 'env'>,
  work: (local: Local | undefined) => Promise<T>,
): Promise<T> {
  if (!(await isInstalled(dataDirectoryPath(dataDir, env), env))) return work(undefined)
  const { openLocal } = await import('../local-domain.ts')
  const local = await openLocal({ dataDir, env })
  try {
    return await work(local)
  } finally {
    await local.close()
  }
}

/** The folder of backups from a flag or the settings. Throws `NoPlace` and `NoDataDirectory`. */
async function folderPath(seeking: Seeking): Promise<string> {
  const setting = async () =>
    withInstallation(seeking, async (local) => (await local?.domain.instance.settings.values())?.['backup.to'])
  const place = seeking.from ?? ((await setting()) || undefined)
  // An explicit data directory means its settings.
  if (place === undefined && seeking.dataDir !== undefined)
    await assertInstalled(dataDirectoryPath(seeking.dataDir, seeking.env), seeking.env)
  if (place === undefined)
    throw new NoPlace('Give the folder of the backups: --from DIR, or svc config set backup.to DIR.')
  return placeOf(place, seeking.env)
}

const isEmptyFolder = (path: string): Promise<boolean> =>
  readdir(path).then(
    (names) => names.length === 0,
    () => false,
  )

/** Opens the folder of `folderPath`. Throws `BadRepository` if it is missing or has no backups. */
export async function backupFolder(seeking: Seeking, passphrases: Passphrases): Promise<BackupFolder> {
  return openFolder(await folderPath(seeking), seeking, passphrases)
}

async function openFolder(
  folder: string,
  seeking: Pick<Seeking, 'dataDir' | 'env'>,
  passphrases: Passphrases,
): Promise<BackupFolder> {
  const header = await readableHeader(folder)
  if (!header) throw new NoBackups(folder)
  if (!header.encrypted) return { folder, header, key: undefined }
  const dataDir = dataDirectoryPath(seeking.dataDir, seeking.env)
  const isKept = header.repository !== undefined && !passphrases.isGiven
  const kept = isKept ? await keptKey(dataDir, folder, header.repository!) : undefined
  if (kept)
    return { folder, header: { ...header, problem: header.problem ?? (await sealedKeyProblem(folder)) }, key: kept }
  return {
    folder,
    header,
    key: await openKey(await sealedKeyOf(folder), await passphrases.known(passphrases.isGiven ? undefined : folder)),
  }
}

/** Every backup of a folder, oldest first; `damaged` says what is wrong with those whose manifest cannot be read. */
export async function listBackups(
  seeking: Seeking,
  passphrases: Passphrases,
): Promise<{ place: string; manifests: Manifest[]; damaged: { id: string; what: string }[]; hasStream: boolean }> {
  const place = await folderPath(seeking)
  if (await isEmptyFolder(place)) return { place, manifests: [], damaged: [], hasStream: false }
  const { header, key } = await openFolder(place, seeking, passphrases)
  const source = readRepository(place, header, key)
  try {
    const manifests: Manifest[] = []
    const damaged: { id: string; what: string }[] = []
    for (const id of await source.ids()) {
      try {
        manifests.push(await source.manifest(id))
      } catch (error) {
        if (!(error instanceof DamagedBackup)) throw error
        damaged.push({ id, what: error.message })
      }
    }
    return { place, manifests, damaged, hasStream: (await chaptersIn(place)).length > 0 }
  } finally {
    await source.close()
  }
}

/** A source of backups: the archive named by `backup`, a moment of a stream, or else a folder. */
export async function backupSource(
  backup: string | undefined,
  seeking: Seeking,
  passphrases: Passphrases,
): Promise<BackupSource & Partial<Pick<MomentSource, 'at' | 'shortfall'>>> {
  if (backup !== undefined && (isArchiveName(backup) || (await isFile(backup)))) {
    const path = resolve(backup)
    if (!(await isFile(path))) throw new BadRepository(`There is no file ${path}.`, 5)
    return openArchive(path, passphrases.known)
  }
  const moment = backup === undefined ? undefined : seeking.momentOf?.(backup)
  const { folder, header, key } = await backupFolder(seeking, passphrases)
  if (moment === undefined) return readRepository(folder, header, key)
  const temporary = await makeLockedFolder('svc-stream-', seeking.temp)
  try {
    const source = await openMoment(folder, key, moment.at, { scratch: temporary.path, without: transientTables })
    const close = async (): Promise<void> => {
      await source.close()
      await temporary.remove()
    }
    return { ...source, close }
  } catch (error) {
    await temporary.remove()
    throw error
  }
}

/** The newest of some ids. Throws `BadRepository` if only some are dated in the future: one of two clocks was wrong. */
function latestOf(ids: readonly string[], place: string): string {
  const latest = ids.at(-1)!
  const past = ids.findLast((id) => !isFuture(backupTime(id), Date.now()))
  if (past === undefined || past === latest) return latest
  throw new BadRepository(
    `It is not clear which backup is the latest: ${latest} is dated in the future, and ${past} is the newest before ` +
      `${iso(Date.now()).slice(0, 16)}Z, the time of this machine. Give one of the two ids. To remove a backup: ${commandLine({}, ['backup', 'prune', '--drop', latest, '--from', place])}`,
    8,
  )
}

/** Resolves a name to an id: an id, a unique prefix of at least the date, `latest`, or the only id of an archive. */
export async function backupNamed(source: BackupSource, name: string): Promise<string> {
  const ids = await source.ids()
  if ('shortfall' in source) return ids[0]!
  if (ids.length === 0) {
    const isStream = (await chaptersIn(source.place)).length > 0
    const hint = isStream ? ', only a stream: give "stream" for its end, or a time such as 14:05:07' : ' yet'
    throw new BadRepository(`There is no backup in ${source.place}${hint}.`, 5)
  }
  if (name === 'latest') return latestOf(ids, source.place)
  if (isArchiveName(name) || (ids.length === 1 && repositoryName(name) === source.place)) return ids.at(-1)!
  // A shorter one would name whatever backup happens to be the only one.
  if (name.length < 'YYYYMMDD'.length)
    throw new BadRepository(`"${name}" is no backup: give an id, or its beginning with the date, such as 20261126.`, 2)
  const matching = ids.includes(name) ? [name] : ids.filter((id) => id.startsWith(name))
  if (matching.length > 1)
    throw new BadRepository(
      `"${name}" matches ${matching.slice(0, 3).join(', ')}${matching.length > 3 ? ', …' : ''}: give more of the id.`,
      2,
    )
  if (matching.length === 0)
    throw new BadRepository(
      `There is no backup "${name}" in ${source.place}. To list them: ${commandLine({}, ['backup', 'list', '--from', source.place])}`,
      5,
    )
  return matching[0]!
}
