import { makeBackups, type Backups } from '../../domain/backups/instance-backups.ts'
import { scratchFolder, type DataDirectory } from '../installation/data-directory.ts'
import { installationFiles } from '../installation/installation-files.ts'
import { version } from '../config/version.ts'

type Parts = Omit<Parameters<typeof makeBackups>[0], 'version' | 'installation' | 'scratch'>

/** Backups of the installation in a data directory. */
export const ownBackups = (directory: DataDirectory, env: NodeJS.ProcessEnv, parts: Parts): Backups =>
  makeBackups({
    ...parts,
    version,
    installation: () => installationFiles(directory, env),
    scratch: scratchFolder(directory),
  })
