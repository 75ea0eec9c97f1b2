import { errorCode } from '../../base/errors.ts'
import { makeFolder } from '../../host/folder-creation.ts'
import { access, constants, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { writeDurably } from '../../host/durable-files.ts'
import { whileLocked } from '../../host/file-lock.ts'
import { userFolder } from '../../host/user-folders.ts'
import { readRegularFile } from '../../host/regular-file.ts'

/** A data directory that cannot be used; the message says what to do. */
export class BadDataDirectory extends Error {
  override name = 'BadDataDirectory'
  readonly exitCode: number = 4
}

class BadConfigFile extends BadDataDirectory {
  override readonly exitCode = 2
}

/** Where the service keeps everything. */
export interface DataDirectory {
  path: string
  database: string
  blobs: string
  config: string
}

/** The path of the data directory: `--data-dir`, else SVC_DATA_DIR, else the user's own. */
export const dataDirectoryPath = (flag: string | undefined, env: NodeJS.ProcessEnv): string =>
  resolve(flag ?? (env['SVC_DATA_DIR'] || join(userFolder('data', env), 'svc')))

/** The paths inside a data directory, which need not exist. */
export const partsOf = (path: string): DataDirectory => ({
  path,
  database: join(path, 'svc.db'),
  blobs: join(path, 'blobs'),
  config: join(path, 'config.json'),
})

/**
 * Opens a data directory; a missing one is created with mode 0700. Refuses one that belongs to another user or that
 * others can write to: whoever can write there can become administrator.
 */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  const refuse = (error: unknown): never => {
    throw new BadDataDirectory(`${path} cannot be the data directory: ${reasonOf(error)}.`, { cause: error })
  }
  await makeFolder(path, 0o700).catch(refuse)
  const { uid, mode } = await stat(path)
  const own = process.getuid?.()
  if (own !== undefined && uid !== own) {
    throw new BadDataDirectory(
      `${path} belongs to user ${uid}, and you are user ${own}: run svc as its owner (sudo -u '#${uid}' svc …).`,
    )
  }
  if (process.platform !== 'win32' && mode & 0o022) {
    throw new BadDataDirectory(`Other users can write to ${path}: run chmod 700 ${path}.`)
  }
  // SQLite creates files beside its database even to read it.
  await access(path, constants.W_OK).catch(refuse)
  // What SQLite and others create inside is for the owner only.
  process.umask(0o077)
  return partsOf(path)
}

export const scratchFolder = ({ path }: DataDirectory): string => join(path, 'tmp')

/** Where thumbnails are cached: of this server alone, in no backup. */
export const thumbnailFolder = ({ path }: DataDirectory): string => join(path, 'thumbnails')

/** Where contents are assembled that go to another machine. */
export const arrivals = ({ path }: DataDirectory): string => join(path, 'arriving')

/** Why a folder cannot be created, in words. */
function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  const reasons: Record<string, string> = {
    EEXIST: 'it is not a folder',
    ENOTDIR: 'a part of its path is not a folder',
    ENOENT: 'nothing can be created there',
    EACCES: 'you may not write there',
    EPERM: 'you may not write there',
    EROFS: 'the disk is read-only',
    ENOSPC: 'the disk is full',
  }
  return reasons[code] ?? message
}

/** The settings of `config.json`; empty if there is none. */
export async function readConfigFile(directory: DataDirectory): Promise<Record<string, unknown>> {
  const text = await readConfigText(directory)
  return text === undefined ? {} : parseConfig(directory, text)
}

/** The text of `config.json`; undefined if there is none. */
export async function readConfigText({ config }: DataDirectory): Promise<string | undefined> {
  try {
    return await readRegularFile(config)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The object in the text of `config.json`. Throws `BadConfigFile` with the line. */
export function parseConfig({ config }: DataDirectory, text: string): Record<string, unknown> {
  const parsed = parseValidMembers(text)
  if (parsed) return parsed
  const line = text.slice(0, VALID_MEMBERS.exec(text)?.[0].length ?? 0).split('\n').length
  throw new BadConfigFile(
    `${config}:${line}: this is not a JSON object. Check quotes and commas there, or move the file away.`,
  )
}

/** The beginning of an object of texts, numbers and truth values, up to the first member that is not valid JSON. */
const VALID_MEMBERS =
  /^\s*\{\s*(?:"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*|true|false|null)\s*(?:,\s*(?=")|(?=\})))*/i

function parseValidMembers(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** Changes the settings of `config.json`, one process at a time, and replaces the file atomically. */
export const changeConfigFile = (
  directory: DataDirectory,
  change: (values: Record<string, unknown>) => Record<string, unknown>,
): Promise<void> =>
  whileLocked(`${directory.config}.lock`, async () => {
    const values = change(await readConfigFile(directory))
    await writeDurably(directory.config, `${JSON.stringify(values, null, 2)}\n`)
  })
