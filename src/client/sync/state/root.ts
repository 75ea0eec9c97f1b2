import { errorCode } from '../../../base/errors.ts'
import { makeFolder } from '../../../host/folder-creation.ts'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { dirname, join, parse, relative, resolve } from 'node:path'
import { randomHex } from '../../../base/random.ts'
import { writeDurably } from '../../../host/durable-files.ts'
import { readRegularFile, readRegularFileSync } from '../../../host/regular-file.ts'
import { realPathOf } from '../../../host/real-path.ts'
import { OWN_FOLDER } from '../plan/reserved-paths.ts'
import { Refused } from '../../refused.ts'
import { NoRoot } from '../sync-errors.ts'
import type { AccountIdentity } from '../../auth/account-identity.ts'

/** The marker of a synchronised folder, in `.svc/root.json`. */
export interface Marker extends AccountIdentity {
  root_id: string
}

/**
 * What is stored about a folder outside of it. Both must agree: an empty mount point has no marker, and another disk
 * has a different one (syncthing#1496, mutagen#275).
 */
export interface Registered extends Marker {
  path: string
  url: string
  username: string
  device_name: string
  /** A run has completed: if the state is missing now, it was lost. */
  synced?: true
}

export interface Root {
  path: string
  registered: Registered
}

const markerFile = (path: string): string => join(path, OWN_FOLDER, 'root.json')

/** A file of the engine inside a root. */
export const ownFile = (root: string, ...names: string[]): string => join(root, OWN_FOLDER, ...names)

const rootsFolder = (stateFolder: string): string => join(stateFolder, 'svc', 'roots')

const registryFile = (stateFolder: string, rootId: string): string => join(rootsFolder(stateFolder), `${rootId}.json`)

const isWithin = (path: string, folder: string): boolean => {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !/^\.\.[/\\]/.test(way) && !parse(way).root)
}

/**
 * Every folder that this user synchronises from this machine. Which one a damaged file stands for is unknown, so
 * `damaged` must not be ignored where a folder could be missed.
 */
export async function listRoots(stateFolder: string, damaged: (error: Refused) => void): Promise<Registered[]> {
  const names = await readdir(rootsFolder(stateFolder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const ids = names.filter((name) => /^[0-9a-f]{32}\.json$/.test(name)).map((name) => name.slice(0, -5))
  const known: Registered[] = []
  for (const id of ids.sort()) {
    const registered = await readRegistered(stateFolder, id)
    if (registered) known.push(registered)
    else if (registered === null) damaged(damagedRegistry(stateFolder, id))
  }
  return known
}

const damagedRegistry = (stateFolder: string, rootId: string, path?: string): Refused =>
  new Refused(
    'not_ours',
    `${registryFile(stateFolder, rootId)} is damaged. Run svc sync init ${path ?? 'DIR'} --adopt${path === undefined ? ' for the folder that it stood for, or delete it if there is none' : ''}: both sides are compared again, and nothing is deleted.`,
  )

/** Undefined if the file is missing, null if it is damaged. */
const readRegistered = async (stateFolder: string, rootId: string): Promise<Registered | undefined | null> => {
  const value = await readJsonFile(registryFile(stateFolder, rootId))
  const { path, url, username, device_name } = (value ?? {}) as Record<string, unknown>
  const texts = [path, url, username, device_name].every((text) => typeof text === 'string')
  if (value === undefined) return undefined
  return texts && isMarker(value) && value.root_id === rootId ? (value as Registered) : null
}

function isMarker(value: unknown): value is Marker {
  const { root_id, server_id, user_id } = (value ?? {}) as Record<string, unknown>
  return (
    typeof root_id === 'string' &&
    /^[0-9a-f]{32}$/.test(root_id) &&
    typeof server_id === 'string' &&
    Number.isInteger(user_id)
  )
}

/** The JSON in a file; undefined if the file is missing, null if it is invalid. */
async function readJsonFile(file: string): Promise<unknown> {
  try {
    return parseJson(await readRegularFile(file))
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined
    throw error
  }
}

/** Null for invalid JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const write = (file: string, value: unknown): Promise<void> =>
  writeDurably(file, `${JSON.stringify(value, null, 2)}\n`, 0o600)

async function register(stateFolder: string, registered: Registered): Promise<void> {
  await makeFolder(rootsFolder(stateFolder), 0o700)
  await write(registryFile(stateFolder, registered.root_id), registered)
}

/** The folder to synchronise: the given one, the one around `cwd`, or the only one. Throws `NoRoot` and `Refused`. */
export async function findRoot(named: string | undefined, cwd: string, stateFolder: string): Promise<string> {
  let damaged: Refused | undefined
  const roots = await listRoots(stateFolder, (error) => (damaged = error))
  const start = resolve(cwd, named ?? '.')
  const above = nearestMarked(start)
  if (above !== undefined && (named === undefined || above === start)) return realpathSync(above)
  const lost = roots.find(({ path }) => isWithin(start, path))
  if (lost && (named === undefined || lost.path === start)) throw gone(lost.path)
  if (above !== undefined) throw new NoRoot(`${start} is in the synchronised folder ${above}: run svc sync ${above}`)
  if (named !== undefined) throw new NoRoot(`${start} is not a synchronised folder: run svc sync init ${named}`)
  if (damaged) throw damaged
  const present = roots.filter(({ path }) => existsSync(path))
  const [only, ...others] = present.length > 0 ? present : roots
  if (!only) throw new NoRoot('No folder is synchronised yet: run svc sync init DIR')
  if (others.length > 0) {
    throw new NoRoot(
      `Several folders are synchronised: give one of ${[only, ...others].map(({ path }) => path).join(', ')}.`,
      2,
    )
  }
  if (!existsSync(markerFile(only.path))) throw gone(only.path)
  return realpathSync(only.path)
}

/** The given folders, or all of an account. Throws `NoRoot` and `Refused`. */
export async function findRoots(
  named: readonly string[],
  cwd: string,
  stateFolder: string,
  { url, username }: Pick<Registered, 'url' | 'username'>,
): Promise<string[]> {
  if (named.length > 0) {
    return [...new Set(await Promise.all(named.map((each) => findRoot(each, cwd, stateFolder))))]
  }
  const fail = (error: Refused): never => {
    throw error
  }
  const own = (await listRoots(stateFolder, fail)).filter((each) => each.url === url && each.username === username)
  return own.length > 0 ? own.map(({ path }) => path) : [await findRoot(undefined, cwd, stateFolder)]
}

const gone = (path: string): Refused =>
  new Refused(
    'gone',
    `${path} is not as it was: ${markerFile(path)} is missing. Is a disk not mounted, or was the folder replaced? Nothing is deleted because of it. If this is the folder, run svc sync init ${path} --adopt`,
  )

function nearestWith(fileOf: (folder: string) => string, path: string): string | undefined {
  for (let at = path; ; at = dirname(at)) {
    if (existsSync(fileOf(at))) return at
    if (dirname(at) === at) return undefined
  }
}

const nearestMarked = (path: string): string | undefined => nearestWith(markerFile, path)

/** In the data directory of a server. */
const serverKeyFile = (path: string): string => join(path, 'keys', 'secret.key')

const adoptIt = (path: string): string =>
  `If it is yours anyway, run svc sync init ${path} --adopt: both sides are compared again, and nothing is deleted.`

/** Opens a root after verifying that it is the remembered one. Throws `Refused` without changing anything. */
export async function openRoot(path: string, stateFolder: string): Promise<Root> {
  const marker = await readJsonFile(markerFile(path))
  if (marker === undefined) throw gone(path)
  if (!isMarker(marker)) throw new Refused('not_ours', `${markerFile(path)} is damaged. ${adoptIt(path)}`)
  const registered = await readRegistered(stateFolder, marker.root_id)
  if (registered === null) throw damagedRegistry(stateFolder, marker.root_id, path)
  if (!registered)
    throw new Refused('not_ours', `${path} was not set up on this machine by this user. ${adoptIt(path)}`)
  if (registered.server_id !== marker.server_id || registered.user_id !== marker.user_id) {
    throw new Refused(
      'not_ours',
      `${path} is marked for another account than the one it was set up for. ${adoptIt(path)}`,
    )
  }
  const around = dirname(path) === path ? undefined : nearestMarked(dirname(path))
  if (around !== undefined) throw nested(path, around)
  if (registered.path === path) return { path, registered }
  const other = await readJsonFile(markerFile(registered.path))
  // A folder that moved may have left a link behind.
  const isMoved = realPathOf(registered.path) === path
  if (!isMoved && isMarker(other) && other.root_id === marker.root_id) {
    throw new Refused(
      'copied',
      `${path} is a copy of ${registered.path}, which is already synchronised. ${adoptIt(path)}`,
    )
  }
  return { path, registered: { ...registered, path } }
}

/** Returns a check that the folder is still the opened one: an unmounted disk would look like a deletion of everything. */
export function makeGuard({ path, registered }: Root): () => void {
  const { dev, ino } = statSync(path)
  return () => {
    const now = statSync(path, { throwIfNoEntry: false })
    if (now?.dev !== dev || now.ino !== ino || !existsSync(markerFile(path))) throw gone(path)
    const marker = parseJson(readRegularFileSync(markerFile(path)))
    if (!isMarker(marker) || marker.root_id !== registered.root_id) throw gone(path)
  }
}

/** Remembers the root's location, and that a run has completed. */
export async function rememberRun({ path, registered }: Root, stateFolder: string): Promise<void> {
  const known = await readRegistered(stateFolder, registered.root_id)
  if (known?.path !== path || !known.synced) await register(stateFolder, { ...registered, path, synced: true })
}

const nested = (path: string, around: string): Refused =>
  new Refused(
    'nested',
    `${path} lies in ${around}, which is already synchronised: one folder cannot be synchronised within another.`,
  )

export interface InitOptions {
  path: string
  stateFolder: string
  owner: AccountIdentity
  url: string
  username: string
  device_name: string
  /** Adopts a folder that is marked but not, or differently, remembered. */
  adopt: boolean
  /** Paths that must not be synchronised, such as the tokens of svc. */
  secrets: readonly string[]
}

/** Sets up a folder, created if missing, for synchronisation; false if it already was. Throws `Refused`. */
export async function initRoot(options: InitOptions): Promise<{ path: string; created: boolean }> {
  const { stateFolder, owner, url, username, device_name, adopt } = options
  const path = realPathOf(resolve(options.path))
  if (existsSync(path) && !statSync(path).isDirectory()) throw new NoRoot(`${path} is not a folder.`)
  await refusePlace(path, options)

  const marker = await readJsonFile(markerFile(path))
  const known = isMarker(marker) ? await readRegistered(stateFolder, marker.root_id) : undefined
  if (isMarker(marker) && (marker.server_id !== owner.server_id || marker.user_id !== owner.user_id)) {
    const before = known?.url === url && known.username === username ? ', before another server took this address' : ''
    const whose = known ? ` (${known.username} at ${known.url}${before})` : ''
    throw new Refused(
      'other_account',
      `${path} holds the files of another account${whose}. To give it to this one, remove ${join(path, OWN_FOLDER)} first.`,
    )
  }
  if (known?.path === path && !adopt) return { path, created: false }
  if (marker !== undefined && !adopt)
    throw new Refused('not_ours', `${path} was set up before, elsewhere. ${adoptIt(path)}`)

  const root_id = randomHex(16)
  await makeFolder(ownFile(path), 0o700)
  // The old state belongs to the old marker; the next run moves it aside.
  await register(stateFolder, { root_id, ...owner, path, url, username, device_name })
  await write(markerFile(path), { root_id, ...owner })
  if (known === null && isMarker(marker)) await rm(registryFile(stateFolder, marker.root_id))
  for (const old of await listRoots(stateFolder, () => undefined)) {
    if (old.path === path && old.root_id !== root_id) await rm(registryFile(stateFolder, old.root_id))
  }
  return { path, created: true }
}

async function refusePlace(path: string, { stateFolder, secrets }: InitOptions): Promise<void> {
  if (dirname(path) === path) throw new Refused('nested', `${path} is a whole file system: choose a folder in it.`)
  const around = nearestMarked(dirname(path))
  if (around !== undefined) throw nested(path, around)
  for (const root of await listRoots(stateFolder, () => undefined)) {
    if (root.path === path) continue
    if (isWithin(root.path, path) && existsSync(markerFile(root.path))) throw nested(root.path, path)
  }
  const server = nearestWith(serverKeyFile, path)
  if (server !== undefined)
    throw new Refused(
      'not_ours',
      `${server} is the data directory of a server, with its secret key: choose another folder.`,
    )
  const secret = [rootsFolder(stateFolder), ...secrets].find((each) => isWithin(each, path))
  if (secret)
    throw new Refused(
      'not_ours',
      `${path} holds ${secret}, where svc keeps its own secrets and state: choose another folder.`,
    )
}
