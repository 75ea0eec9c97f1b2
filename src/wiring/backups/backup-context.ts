import { systemClock } from '../../base/clock.ts'
import type { Domain } from '../../domain/domain.ts'
import { makeAudit } from '../../domain/instance/audit.ts'
import { makeSettings, type Given } from '../../domain/instance/settings.ts'
import { lastState } from '../../storage/backups/last-state.ts'
import { knownFact } from '../../storage/instance/settings.ts'
import { sqliteState } from '../../storage/engine/sqlite.ts'
import {
  dataDirectoryPath,
  openDataDirectory,
  scratchFolder,
  type DataDirectory,
} from '../installation/data-directory.ts'
import { commandOperator, environment } from '../config/environment.ts'
import { ownBackups } from './installation-backups.ts'
import { readGiven } from '../config/given-config.ts'
import { secretKey } from '../installation/secret-key.ts'
import { keepsOwnRows, openStorage } from '../installation/storage.ts'
import { version } from '../config/version.ts'

// What a backup needs of an installation. The rest is not loaded when nothing has changed.

export interface BackupContext {
  domain: Pick<Domain, 'backups'> & { instance: Pick<Domain['instance'], 'identity' | 'settings'> }
  directory: DataDirectory
  close(): Promise<void>
}

const sealing = {
  seal: () => {
    throw new Error('A backup seals no setting.')
  },
  unseal: () => {
    throw new Error('A backup reads no secret.')
  },
}

/** Whether the database still has the schema of this version, so that no migration is needed. */
async function isSettled(directory: DataDirectory): Promise<boolean> {
  const last = await lastState(scratchFolder(directory))
  return last?.version === version && last.state === (await sqliteState(directory.database))
}

async function openSettled(directory: DataDirectory, given: Given, env: NodeJS.ProcessEnv): Promise<BackupContext> {
  await secretKey(directory, false, env)
  const { database, blobs, close } = await openStorage(directory, given, env)
  const [server_id, epoch] = [await knownFact(database.read, 'server_id'), await knownFact(database.read, 'epoch')]
  const identity = { server_id, epoch }
  const clock = systemClock
  const settings = makeSettings(database, given, clock, sealing)
  const audit = makeAudit({ database, clock, operator: commandOperator() })
  const backups = ownBackups(directory, env, { database, blobs, clock, audit, settings, identity })
  return {
    domain: { backups, instance: { identity, settings } },
    directory,
    close,
  }
}

/** What commands on backups need. If no migration is due, it opens less of the installation. */
export async function openBackupContext(dataDir: string | undefined, env = environment): Promise<BackupContext> {
  const directory = await openDataDirectory(dataDirectoryPath(dataDir, env))
  const given = await readGiven(directory, env)
  if (keepsOwnRows(given) && (await isSettled(directory))) return openSettled(directory, given, env)
  const { openLocal } = await import('../local-domain.ts')
  return openLocal({ dataDir: directory.path, env, create: false })
}
