import { findAccount } from '../client/credentials.ts'
import { NotSignedIn } from '../client/errors.ts'
import { dataDirectoryPath } from '../wiring/data-directory.ts'
import { isInstalled } from '../wiring/installed.ts'
import type { Globals } from './command.ts'

/**
 * Where a command for both users and administrators works: on the server of the signed-in account, or on the data directory.
 * The data directory is used if it is asked for, or if nobody is signed in and one exists. Throws `NotSignedIn` without either.
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
