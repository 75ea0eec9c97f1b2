import { sealKey } from '../storage/backups/passphrase.ts'
import { replaceSealedKey } from '../storage/backups/repository.ts'
import type { BackupFolder } from './backup-places.ts'

/** Gives an encrypted folder of backups another passphrase; the one before opens it no longer. */
export const changePassphrase = async ({ folder, key }: BackupFolder, passphrase: string): Promise<void> =>
  replaceSealedKey(folder, await sealKey(key!, passphrase))
