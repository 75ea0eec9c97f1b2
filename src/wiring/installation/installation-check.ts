import { stat } from 'node:fs/promises'
import { errorCode } from '../../base/errors.ts'
import { variableOf } from '../../domain/instance/options.ts'
import { partsOf } from './data-directory.ts'
import { externalDatabaseFile } from './external-database.ts'
import { assertNothingLost } from './lost-database.ts'

/** No installation where a command looks for one; the message says what to do. */
export class NoDataDirectory extends Error {
  override name = 'NoDataDirectory'
  readonly exitCode = 5
  readonly reason = 'not_found'
}

export const notInstalled = (path: string, isFolder: boolean): NoDataDirectory =>
  new NoDataDirectory(
    `${isFolder ? `There is no installation of svc in ${path}` : `There is no data directory at ${path}`}: name another one with --data-dir or SVC_DATA_DIR, or create one there with svc init or svc serve.`,
  )

/** Whether the path exists; if that cannot be checked it may, and opening it reports more. */
const mayBeThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => errorCode(error) !== 'ENOENT',
  )

/**
 * Whether there is an installation to work on: rows, or settings that may name a server for them. With a server named
 * by the environment, the data directory can be empty. Otherwise an empty folder is only prepared for one.
 */
export async function isInstalled(path: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  if (env[variableOf('database')]) return true
  const { database, config } = partsOf(path)
  return (await mayBeThere(database)) || (await mayBeThere(config)) || mayBeThere(externalDatabaseFile({ path }))
}

/** Throws `NoDataDirectory` if there is no installation; never creates one. */
export async function assertInstalled(path: string, env: NodeJS.ProcessEnv): Promise<void> {
  if (await isInstalled(path, env)) return
  // A lost database is reported first: a new installation would hide it.
  await assertNothingLost(partsOf(path))
  throw notInstalled(path, await mayBeThere(path))
}
