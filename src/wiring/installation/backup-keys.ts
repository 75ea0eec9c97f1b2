import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../base/errors.ts'
import { writeDurably } from '../../host/durable-files.ts'
import { readRegularFile } from '../../host/regular-file.ts'
import { BadRepository } from '../../storage/backups/repository.ts'
import { opensRepository } from '../../storage/backups/repository-key.ts'

// The keys of encrypted backups that a data directory keeps, so that backups need no passphrase.

const keyFile = (dataDir: string, repository: string): string => join(dataDir, 'keys', `backup-${repository}.key`)

async function read(file: string): Promise<Uint8Array | undefined> {
  const text = await readRegularFile(file).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error
    return ''
  })
  const key = Buffer.from(text.trim(), 'hex')
  return key.length === 32 ? key : undefined
}

/**
 * The stored key of the repository in a folder; undefined if there is none. Throws `BadRepository` if it is that of other
 * backups: a new one would make a folder that no single key opens.
 */
export async function keptKey(dataDir: string, folder: string, repository: string): Promise<Uint8Array | undefined> {
  const file = keyFile(dataDir, repository)
  const key = await read(file)
  if (!key || (await opensRepository(folder, key))) return key
  throw new BadRepository(
    `The key in ${file} opens no backup in ${folder}: it is damaged, or that of other backups. ` +
      'Remove that file: the next command asks for the passphrase of the backups and keeps the right key.',
    8,
  )
}

/** Keeps the key of a repository in the data directory, mode 0600, for commands without a passphrase. */
export async function keepKey(dataDir: string, repository: string, key: Uint8Array): Promise<void> {
  await mkdir(join(dataDir, 'keys'), { recursive: true, mode: 0o700 })
  await writeDurably(keyFile(dataDir, repository), `${Buffer.from(key).toString('hex')}\n`)
}
