import { findAccount } from '../client/credentials.ts'
import { NotSignedIn } from '../client/errors.ts'
import { dataDirectoryPath } from '../wiring/data-directory.ts'
import { isInstalled } from '../wiring/installed.ts'
import type { Globals } from './command.ts'

/**
 * Whether a command that both a user and an administrator have is done on the server of the signed-in account or on the data
 * directory: there when that was asked for, or when nobody is signed in and there is one. Throws `NotSignedIn` for neither.
 */
export async function faceOf(
  isAdministrators: boolean,
  { env, profile, dataDir }: Globals,
): Promise<'server' | 'domain'> {
  if (isAdministrators || dataDir !== undefined) return 'domain'
  try {
    await findAccount({ env, profile })
    return 'server'
  } catch (error) {
    if (!(error instanceof NotSignedIn) || profile !== undefined) throw error
    if (await isInstalled(dataDirectoryPath(undefined, env), env)) return 'domain'
    throw error
  }
}
