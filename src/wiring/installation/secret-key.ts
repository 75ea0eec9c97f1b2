import { makeFolder } from '../../host/folder-creation.ts'
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { errorCode } from '../../base/errors.ts'
import { streamDurably } from '../../host/durable-files.ts'
import { readRegularFile } from '../../host/regular-file.ts'
import { BadDataDirectory, type DataDirectory } from './data-directory.ts'
import { LostDatabase, PENDING_KEY } from './lost-database.ts'

export const OWN_KEY = 'secret.key'

const KEY_VARIABLE = 'SVC_SECRET_KEY_FILE'

/** The key file shared by several servers; undefined if the data directory has its own. */
export const sharedKeyFile = (env: NodeJS.ProcessEnv): string | undefined => env[KEY_VARIABLE] || undefined

export interface SecretKey {
  /** 32 bytes. */
  key: Uint8Array
  /** Gives a new key its final name, once the database holds data sealed with it. */
  keep(): Promise<void>
}

async function readKey(file: string): Promise<Uint8Array | undefined> {
  let text: string
  try {
    text = await readRegularFile(file)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
  const key = Buffer.from(text.trim(), 'hex')
  if (key.length !== 32) throw new BadDataDirectory(`${file} is damaged: restore it from a backup.`)
  return key
}

/** Writes a key unless one exists; if several processes do so at once, the first one wins. */
const writeKey = (file: string, key: Uint8Array): Promise<void> =>
  streamDurably(file, Readable.from([Buffer.from(`${Buffer.from(key).toString('hex')}\n`)]), {
    replace: false,
    mode: 0o600,
  }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
  })

/**
 * The secret in `keys/secret.key`, created with a new installation, or in the file of SVC_SECRET_KEY_FILE for servers
 * that share a database. A new key is pending until its rows exist: a final key beside an empty database always means
 * lost rows.
 */
export async function secretKey({ path }: DataDirectory, isNew: boolean, env: NodeJS.ProcessEnv): Promise<SecretKey> {
  const shared = sharedKeyFile(env)
  const kept = () => Promise.resolve()
  if (shared !== undefined) {
    const key = await readKey(shared)
    if (!key) throw new BadDataDirectory(`${shared}, which ${KEY_VARIABLE} names, does not exist.`)
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
  // Another process may have completed the installation since the first check.
  const completed = await readKey(file)
  if (completed) {
    await rm(pending, { force: true })
    return { key: completed, keep: kept }
  }
  // A new key with old data would silently break every second factor.
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

/** Refuses a key that does not match the database: no second factor could be checked with it. */
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
