import { findAccount } from '../client/auth/credentials.ts'
import { NotSignedIn } from '../client/errors.ts'
import { dataDirectoryPath } from '../wiring/installation/data-directory.ts'
import { isInstalled } from '../wiring/installation/installation-check.ts'
import type { Globals } from './command.ts'

/**
 * Where a command for both users and administrators works: on the signed-in account's server or on the data directory.
 * The data directory is used if requested, or if nobody is signed in and one exists. Otherwise throws `NotSignedIn`.
 */
export async function modeOf(
  isAdministrator: boolean,
  { env, profile, dataDir }: Globals,
): Promise<'server' | 'domain'> {
  if (isAdministrator || dataDir !== undefined) return 'domain'
  try {
    await findAccount({ env, profile })
    return 'server'
  } catch (error) {
    if (!(error instanceof NotSignedIn) || profile !== undefined) throw error
    if (await isInstalled(dataDirectoryPath(undefined, env), env)) return 'domain'
    throw error
  }
}
