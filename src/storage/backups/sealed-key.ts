import { errorCode, fromSystemError } from '../../base/errors.ts'
import { readAll, openBytes } from './file-bytes.ts'
import { DamagedBackup } from './backup-manifest.ts'
import { headerOf, SEALED_KEY } from './passphrase.ts'
import { replaceStored } from './repository-files.ts'
import { within } from './repository-path.ts'

export const KEY_FILE = 'key.age'
/** Longest key file that is read, bytes. */
const MAX_KEY = 8_192

/** The sealed key of an encrypted repository. Throws `DamagedBackup` when there is none that a passphrase could open. */
export async function sealedKeyOf(folder: string): Promise<Uint8Array> {
  const path = within(folder, KEY_FILE)
  const file = await openBytes(path).catch((cause: unknown) => {
    if (cause instanceof DamagedBackup) throw cause
    const what = errorCode(cause) === 'ENOENT' ? 'is missing' : `cannot be read: ${(cause as Error).message}`
    throw new DamagedBackup(`${path} ${what}.`, { cause })
  })
  try {
    const header = file.size > MAX_KEY ? undefined : await headerOf(file)
    if (!header || file.size < header.length + SEALED_KEY) throw new DamagedBackup(`${path} is damaged.`)
    return await readAll(file.read(0, file.size))
  } finally {
    await file.close()
  }
}

/** Why no passphrase opens a repository whose key this machine keeps, and what helps; undefined when one may. */
export const sealedKeyProblem = (folder: string): Promise<string | undefined> =>
  sealedKeyOf(folder).then(
    () => undefined,
    (error: unknown) => {
      if (!(error instanceof DamagedBackup)) throw error
      return (
        `${error.message} Only this machine, which keeps the key, can still open these backups: ` +
        'svc backup passphrase stores the key again, under a new passphrase.'
      )
    },
  )

/** Puts another sealed key in the place of the one before; what it opens stays the same. */
export const replaceSealedKey = (folder: string, sealedKey: Uint8Array): Promise<void> =>
  replaceStored(within(folder, KEY_FILE), sealedKey).catch((error: unknown) =>
    Promise.reject(fromSystemError(error, folder) as Error),
  )
