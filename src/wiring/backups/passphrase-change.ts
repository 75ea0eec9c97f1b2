import { sealKey } from '../../storage/backups/passphrase.ts'
import { replaceSealedKey } from '../../storage/backups/sealed-key.ts'
import type { BackupFolder } from './backup-locations.ts'

/** Changes the passphrase of an encrypted folder of backups; the old one no longer opens it. */
export const changePassphrase = async ({ folder, key }: BackupFolder, passphrase: string): Promise<void> =>
  replaceSealedKey(folder, await sealKey(key!, passphrase))
