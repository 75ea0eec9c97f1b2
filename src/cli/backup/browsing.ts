import type { Browser, JobContext } from '../../domain/backups/backups.ts'
import { makeTemporaryFolder } from '../../host/temporary-folder.ts'
import { flag, type Globals } from '../command.ts'
import type { Io } from '../io.ts'
import { passphrasesOf, seekingFlags, seekingOf } from './seeking.ts'
import { withProgress } from '../progress.ts'

export const browsingFlags = { ...seekingFlags, temp: flag.text('folder for the database meanwhile', 'DIR') }

interface Flags {
  from: string | undefined
  passphraseFile: string | undefined
  passphraseStdin: boolean
  temp: string | undefined
}

/** Opens a backup for looking into it, and lets go of it whatever happens. */
export async function browsing<T>(
  { io, globals, flags }: { io: Io; globals: Globals; flags: Flags },
  backup: string,
  work: (browser: Browser, job: JobContext) => Promise<T>,
): Promise<T> {
  const [{ backupNamed, backupSource }, { browseBackup }] = await Promise.all([
    import('../../wiring/backup-places.ts'),
    import('../../domain/backups/backups.ts'),
  ])
  const source = await backupSource(backup, seekingOf(globals, flags), passphrasesOf(io, flags))
  const scratch = await makeTemporaryFolder('svc-backup-', flags.temp)
  try {
    const manifest = await source.manifest(await backupNamed(source, backup))
    return await withProgress('Opening', async (job) => {
      const browser = await browseBackup(source, manifest, scratch.path, job)
      try {
        return await work(browser, job)
      } finally {
        await browser.close()
      }
    })
  } finally {
    await scratch.remove()
    await source.close()
  }
}
