import { mkdir, readFile, stat } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { codeOf } from '../base/trouble.ts'
import { variableOf } from '../domain/instance/options.ts'
import { streamDurably, writeDurably } from '../host/durable.ts'
import { userFolder } from '../host/folders.ts'

/** A data directory that cannot be used as it is; the message says what to do. */
export class BadDataDirectory extends Error {
  override name = 'BadDataDirectory'
  readonly exitCode = 4
}

/** There is no installation where a command looks for one; the message says what to do. */
class NoDataDirectory extends Error {
  override name = 'NoDataDirectory'
  readonly exitCode = 5
  readonly reason = 'not_found'
}

/** Where the service keeps everything. */
export interface DataDirectory {
  path: string
  database: string
  blobs: string
  config: string
}

/** The data directory: `--data-dir`, else SVC_DATA_DIR, else the user's own. */
export const dataDirectoryPath = (flag: string | undefined, env: NodeJS.ProcessEnv): string =>
  resolve(flag ?? (env['SVC_DATA_DIR'] || join(userFolder('data', env), 'svc')))

const partsOf = (path: string): DataDirectory => ({
  path,
  database: join(path, 'svc.db'),
  blobs: join(path, 'blobs'),
  config: join(path, 'config.json'),
})

/** Whether something has the name; what cannot be looked at may have it, and opening it says more. */
const mayBeThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => codeOf(error) !== 'ENOENT',
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
  // Beside keys there were rows once: what a new installation would hide is told first.
  if (await mayBeThere(join(path, 'keys'))) {
    throw new NoDataDirectory(
      `${path} has keys, but neither svc.db nor config.json: name the server of its rows with ${variableOf('database')}, or restore a backup.`,
    )
  }
  const found = (await mayBeThere(path))
    ? `There is no installation of svc in ${path}`
    : `There is no data directory at ${path}`
  throw new NoDataDirectory(
    `${found}: name another one with --data-dir or SVC_DATA_DIR, or make one there with svc init or svc serve.`,
  )
}

/**
 * Opens a data directory, creating it (0700) when it is missing. Refuses one that belongs to another user, or that others
 * may write to: whoever can write there can become administrator.
 */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  await mkdir(path, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new BadDataDirectory(`${path} cannot be the data directory: ${reasonOf(error)}.`, { cause: error })
  })
  const { uid, mode } = await stat(path)
  const own = process.getuid?.()
  if (own !== undefined && uid !== own) {
    throw new BadDataDirectory(
      `${path} belongs to user ${uid}, and you are user ${own}: run svc as its owner (sudo -u '#${uid}' svc …).`,
    )
  }
  if (process.platform !== 'win32' && mode & 0o022) {
    throw new BadDataDirectory(`Others may write to ${path}: run chmod 700 ${path}.`)
  }
  // What SQLite and others create inside is for the owner only.
  process.umask(0o077)
  return partsOf(path)
}

/** Where backups are put together. */
export const scratchFolder = ({ path }: DataDirectory): string => join(path, 'tmp')

/** Where contents are put together that go on to another machine. */
export const arrivals = ({ path }: DataDirectory): string => join(path, 'arriving')

/** Why a folder cannot be made, in words. */
function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  const reasons: Record<string, string> = {
    EEXIST: 'it is not a folder',
    ENOTDIR: 'something on its way is not a folder',
    EACCES: 'you may not write there',
    EPERM: 'you may not write there',
    EROFS: 'that disk is read-only',
    ENOSPC: 'that disk is full',
  }
  return reasons[code] ?? message
}

/** The settings of `config.json`; empty when there is none. */
export async function readConfigFile({ config }: DataDirectory): Promise<Record<string, unknown>> {
  let text: string
  try {
    text = await readFile(config, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
  const parsed = understood(text)
  if (!parsed) throw new BadDataDirectory(`${config} is not a JSON object: mend it, or move it away.`)
  return parsed
}

function understood(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** Replaces `config.json` as a whole. */
export const writeConfigFile = ({ config }: DataDirectory, values: Record<string, unknown>): Promise<void> =>
  writeDurably(config, `${JSON.stringify(values, null, 2)}\n`)

/** The installation's secret, in the folder of keys. */
export const OWN_KEY = 'secret.key'

/** The environment variable with the file of a key that several servers share. */
const KEY_VARIABLE = 'SVC_SECRET_KEY_FILE'

/** The file of the key that several servers share; undefined where the data directory has its own. */
export const sharedKeyFile = (env: NodeJS.ProcessEnv): string | undefined => env[KEY_VARIABLE] || undefined

/**
 * The installation's secret of 32 bytes in `keys/secret.key`, made when the installation is new; or that in the file which
 * SVC_SECRET_KEY_FILE names, for servers that share a database.
 */
export async function secretKey({ path }: DataDirectory, isNew: boolean, env: NodeJS.ProcessEnv): Promise<Uint8Array> {
  const shared = sharedKeyFile(env)
  if (shared !== undefined) {
    const key = await readKey(shared)
    if (!key) throw new BadDataDirectory(`There is no ${shared}, which ${KEY_VARIABLE} names.`)
    return key
  }
  const folder = join(path, 'keys')
  const file = join(folder, OWN_KEY)
  const found = await readKey(file)
  if (found) return found
  // A new key beside old data would make every second factor useless without a word.
  if (!isNew)
    throw new BadDataDirectory(`${file} is missing: restore it from a backup, or copy it from another server.`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const made = [Buffer.from(`${randomBytes(32).toString('hex')}\n`)]
  // Another process may start at the same moment: the key of the first is that of both.
  await streamDurably(file, Readable.from(made), { replace: false, mode: 0o600 }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  })
  return (await readKey(file))!
}

/** Refuses a key under which the database was not made: no second factor could be checked with it. */
export function assertSameKey(open: () => void): void {
  try {
    open()
  } catch (cause) {
    throw new BadDataDirectory(
      `The secret key is not the one this database was made with: copy keys/secret.key from the server that made it, or name its file in ${KEY_VARIABLE}.`,
      { cause },
    )
  }
}

async function readKey(file: string): Promise<Uint8Array | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const key = Buffer.from(text.trim(), 'hex')
  if (key.length !== 32) throw new BadDataDirectory(`${file} is damaged: restore it from a backup.`)
  return key
}
