import { makeBackups, type Backups } from '../domain/backups/instance-backups.ts'
import { scratchFolder, type DataDirectory } from './data-directory.ts'
import { installationFiles } from './installation-files.ts'
import { version } from './version.ts'

type Parts = Omit<Parameters<typeof makeBackups>[0], 'version' | 'installation' | 'scratch'>

/** The backups of the installation in a data directory. */
export const ownBackups = (directory: DataDirectory, env: NodeJS.ProcessEnv, parts: Parts): Backups =>
  makeBackups({
    ...parts,
    version,
    installation: () => installationFiles(directory, env),
    scratch: scratchFolder(directory),
  })
