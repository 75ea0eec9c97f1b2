import { pluralize } from '../../base/counts.ts'
import { errorCode } from '../../base/errors.ts'
import type { Backups, Target } from '../../domain/backups/backups.ts'
import type { Domain } from '../../domain/domain.ts'
import type { Passphrases } from '../../wiring/backups/backup-locations.ts'
import type { DataDirectory } from '../../wiring/installation/data-directory.ts'
import type { Globals } from '../command.ts'
import { errorMessage } from '../error-message.ts'
import { Exit, usage } from '../exit.ts'
import type { Io } from '../io.ts'
import { withProgress } from '../progress.ts'

// The backup of the present state that precedes a rewind.

export interface SaveOptions {
  /** The folder from `--save-to`; undefined for that of `source`. */
  saveTo: string | undefined
  encrypt: boolean
  noEncrypt: boolean
  source: { place: string; encrypted: boolean }
  passphrases: Passphrases
}

export interface Context {
  io: Io
  globals: Globals
  domain: Domain
  directory: DataDirectory
}

/**
 * Where the present state is saved: encrypted like the backups that are rewound to, unless a flag says otherwise. Throws usage errors
 * and `BadRepository` before anything is written.
 */
export async function saveTarget({ globals, domain, directory }: Context, options: SaveOptions): Promise<Target> {
  const { saveTo, noEncrypt, source, passphrases } = options
  const { backupTarget, isArchiveName, placeOf, sealedKeyIn } = await import('../../wiring/backups/backup-locations.ts')
  if (saveTo !== undefined && isArchiveName(saveTo))
    throw usage('The undo of a rewind needs a folder of backups: give --save-to DIR, not an archive.')
  const isArchive = isArchiveName(source.place)
  const place = saveTo ?? (isArchive ? undefined : source.place)
  if (place === undefined)
    throw usage('An archive takes no second backup: give a folder for the present state, --save-to DIR.')
  const isOther = placeOf(place) !== source.place
  const encrypt = options.encrypt || (source.encrypted && isOther && !noEncrypt)
  const sameKey =
    encrypt && source.encrypted && !isArchive
      ? await sealedKeyIn(source.place, { dataDir: directory.path, env: globals.env }, passphrases)
      : undefined
  return backupTarget(
    { domain, directory },
    { to: place, encrypt, startsOver: false, sameKey },
    // The passphrase that was given is that of --from; another folder may have another one.
    isOther ? { ...passphrases, isGiven: false } : passphrases,
  ).catch((error: unknown) => {
    if ((error as Error).name !== 'NotEncrypted') throw error
    const hint = options.encrypt
      ? ''
      : ' To save the present state there, readable for everybody who can read that folder, add --no-encrypt.'
    throw new Exit(6, `${(error as Error).message}${hint}`, 'conflict')
  })
}

/** Backs up the present state to a target. Returns the id. */
export async function savePresentState({ io, domain }: Context, target: Target): Promise<string> {
  const { manifest, repaired } = await withProgress('Backing up', (job) =>
    (domain.backups as Backups).create(target, job),
  ).catch((error: unknown) => {
    throw unsaved(error, target.place)
  })
  if (manifest.missing.length > 0)
    io.warn(
      `${pluralize(manifest.missing.length, 'content')} of the present state could not be backed up: svc storage check names the files.`,
    )
  if (repaired > 0)
    io.warn(
      `${pluralize(repaired, 'damaged or missing object')} of earlier backups ${repaired === 1 ? 'was' : 'were'} stored again.`,
    )
  return manifest.id
}

/** A folder that cannot be written is no reason to give up: another one can take the present state. */
function unsaved(error: unknown, place: string): unknown {
  const code = errorCode(error) || errorCode((error as Error).cause)
  if (!/^E[A-Z]+$/.test(code)) return error
  return new Exit(
    1,
    `The present state cannot be saved in ${place}: ${errorMessage(error)} Nothing was changed. Give another folder for it: --save-to DIR.`,
  )
}
