import { makeFolder } from '../host/make-folder.ts'
import { randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { errorCode } from '../base/errors.ts'
import { streamDurably } from '../host/durable.ts'
import { BadDataDirectory, type DataDirectory } from './data-directory.ts'
import { LostDatabase, PENDING_KEY } from './lost-database.ts'

/** The installation's secret, in the folder of keys. */
export const OWN_KEY = 'secret.key'

/** The environment variable with the file of a key that several servers share. */
const KEY_VARIABLE = 'SVC_SECRET_KEY_FILE'

/** The file of the key that several servers share; undefined where the data directory has its own. */
export const sharedKeyFile = (env: NodeJS.ProcessEnv): string | undefined => env[KEY_VARIABLE] || undefined

export interface SecretKey {
  /** 32 bytes. */
  key: Uint8Array
  /** Gives a new key its name, once the database holds what was sealed with it. */
  keep(): Promise<void>
}

async function readKey(file: string): Promise<Uint8Array | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
  const key = Buffer.from(text.trim(), 'hex')
  if (key.length !== 32) throw new BadDataDirectory(`${file} is damaged: restore it from a backup.`)
  return key
}

/** Writes a key where none stands; another process may do so at the same moment, and the first one counts. */
const writeKey = (file: string, key: Uint8Array): Promise<void> =>
  streamDurably(file, Readable.from([Buffer.from(`${Buffer.from(key).toString('hex')}\n`)]), {
    replace: false,
    mode: 0o600,
  }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
  })

/**
 * The installation's secret in `keys/secret.key`, made when the installation is new; or that in the file which
 * SVC_SECRET_KEY_FILE names, for servers that share a database. A new one is pending until its rows are there: a key beside
 * an empty database always means that rows were lost.
 */
export async function secretKey({ path }: DataDirectory, isNew: boolean, env: NodeJS.ProcessEnv): Promise<SecretKey> {
  const shared = sharedKeyFile(env)
  const kept = () => Promise.resolve()
  if (shared !== undefined) {
    const key = await readKey(shared)
    if (!key) throw new BadDataDirectory(`There is no ${shared}, which ${KEY_VARIABLE} names.`)
    return { key, keep: kept }
  }
  const folder = join(path, 'keys')
  const [file, pending] = [join(folder, OWN_KEY), join(folder, PENDING_KEY)]
  const found = await readKey(file)
  if (found) return { key: found, keep: kept }
  if (isNew) {
    await makeFolder(folder, 0o700)
    await writeKey(pending, randomBytes(32))
  }
  const begun = await readKey(pending)
  // Another process may have completed the installation since the first look.
  const completed = await readKey(file)
  if (completed) {
    await rm(pending, { force: true })
    return { key: completed, keep: kept }
  }
  // A new key beside old data would make every second factor useless without a word.
  if (!begun)
    throw new BadDataDirectory(`${file} is missing: restore it from a backup, or copy it from another server.`)
  return {
    key: begun,
    async keep() {
      await writeKey(file, begun)
      await rm(pending, { force: true })
    },
  }
}

/** Refuses a key under which the database was not made: no second factor could be checked with it. */
export function assertSameKey(open: () => void): void {
  try {
    open()
  } catch (cause) {
    throw new LostDatabase(
      `The secret key is not the one this database was made with: copy keys/secret.key from the server that made it, or name its file in ${KEY_VARIABLE}. ` +
        'If the database is the wrong one, put back the right one or restore a backup.',
      { cause },
    )
  }
}
