import type { Browser, JobContext } from '../../domain/backups/backups.ts'
import { makeLockedFolder } from '../../host/temporary-folder.ts'
import { flag, type Globals } from '../command.ts'
import type { Io } from '../io.ts'
import { passphraseSource, sourceFlags, sourceOptions } from '../backup-source.ts'
import { withProgress } from '../progress.ts'

export const browserFlags = { ...sourceFlags, temp: flag.text('folder for a temporary copy of the database', 'DIR') }

interface Flags {
  from: string | undefined
  passphraseFile: string | undefined
  passphraseStdin: boolean
  temp: string | undefined
}

/** Opens a backup for reading and closes it afterwards. */
export async function withBackupBrowser<T>(
  { io, globals, flags }: { io: Io; globals: Globals; flags: Flags },
  backup: string,
  use: (browser: Browser, job: JobContext) => Promise<T>,
): Promise<T> {
  const [{ backupNamed, backupSource }, { browseBackup }] = await Promise.all([
    import('../../wiring/backups/backup-locations.ts'),
    import('../../domain/backups/backups.ts'),
  ])
  const source = await backupSource(backup, sourceOptions(globals, flags), passphraseSource(io, flags))
  if (source.shortfall !== undefined) io.warn(source.shortfall)
  const temporary = await makeLockedFolder('svc-backup-', flags.temp)
  try {
    const manifest = await source.manifest(await backupNamed(source, backup))
    return await withProgress('Opening', async (job) => {
      const browser = await browseBackup(source, manifest, temporary.path, job)
      try {
        return await use(browser, job)
      } finally {
        await browser.close()
      }
    })
  } finally {
    await temporary.remove()
    await source.close()
  }
}
