import { stat } from 'node:fs/promises'
import { errorCode } from '../base/errors.ts'
import { variableOf } from '../domain/instance/options.ts'
import { partsOf } from './data-directory.ts'
import { assertNothingLost } from './lost-database.ts'

/** There is no installation where a command looks for one; the message says what to do. */
export class NoDataDirectory extends Error {
  override name = 'NoDataDirectory'
  readonly exitCode = 5
  readonly reason = 'not_found'
}

/** What is said of a place without an installation. */
export const notInstalled = (path: string, isFolder: boolean): NoDataDirectory =>
  new NoDataDirectory(
    `${isFolder ? `There is no installation of svc in ${path}` : `There is no data directory at ${path}`}: name another one with --data-dir or SVC_DATA_DIR, or make one there with svc init or svc serve.`,
  )

/** Whether something has the name; what cannot be looked at may have it, and opening it says more. */
const mayBeThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => errorCode(error) !== 'ENOENT',
  )

/**
 * Whether there is an installation to work on: rows, or settings, which may name a server for them; one whose server the
 * environment names may have nothing in its data directory. An empty folder is one that was prepared for it, no more.
 */
export async function isInstalled(path: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  if (env[variableOf('database')]) return true
  const { database, config } = partsOf(path)
  return (await mayBeThere(database)) || mayBeThere(config)
}

/** Refuses a place without an installation, and makes none. Throws `NoDataDirectory`. */
export async function assertInstalled(path: string, env: NodeJS.ProcessEnv): Promise<void> {
  if (await isInstalled(path, env)) return
  // What a new installation would hide is told first.
  await assertNothingLost(partsOf(path))
  throw notInstalled(path, await mayBeThere(path))
}
