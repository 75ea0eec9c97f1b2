import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode } from '../../base/errors.ts'
import { writeDurably } from '../../host/durable-files.ts'
import { whileLocked } from '../../host/file-lock.ts'
import { readRegularFile } from '../../host/regular-file.ts'
import type { Account } from '../auth/credentials.ts'
import { type AccountIdentity, fingerprint } from '../auth/account-identity.ts'

// The path of an account's rows: in the user's state folder, independent of synchronised folders.

const rowsFolder = (stateFolder: string): string => join(stateFolder, 'svc', 'rows')

export function replicaFile(stateFolder: string, { server_id, user_id }: AccountIdentity): string {
  const name = createHash('sha256').update(`${server_id}\n${user_id}`).digest('hex').slice(0, 32)
  return join(rowsFolder(stateFolder), `${name}.db`)
}

type Known = Record<string, AccountIdentity & { at: number }>

/** Most remembered tokens, more than anyone uses at a time. */
const MAX_TOKENS = 100

const indexFile = (stateFolder: string): string => join(rowsFolder(stateFolder), 'accounts.json')

async function readKnown(stateFolder: string): Promise<Known> {
  try {
    const value: unknown = JSON.parse(await readRegularFile(indexFile(stateFolder)))
    const entries = Object.entries((value ?? {}) as Known).filter(
      ([, owner]) => typeof owner?.server_id === 'string' && Number.isSafeInteger(owner.user_id),
    )
    return Object.fromEntries(entries)
  } catch (error) {
    // The file is only a cache: without it the server is asked.
    if (error instanceof SyntaxError || errorCode(error) === 'ENOENT') return {}
    throw error
  }
}

/** The account of a token, if remembered. */
export async function knownAccount(stateFolder: string, account: Account): Promise<AccountIdentity | undefined> {
  const known = await readKnown(stateFolder)
  const owner = known[fingerprint(account)]
  return owner && { server_id: owner.server_id, user_id: owner.user_id }
}

/** Remembers the account of a token by its hash; undefined forgets it. */
export async function rememberAccount(
  stateFolder: string,
  account: Account,
  owner: AccountIdentity | undefined,
  now: number,
): Promise<void> {
  const before = await knownAccount(stateFolder, account)
  if (before?.server_id === owner?.server_id && before?.user_id === owner?.user_id) return
  const file = indexFile(stateFolder)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await whileLocked(`${file}.lock`, async () => {
    const { [fingerprint(account)]: _, ...others } = await readKnown(stateFolder)
    const own = owner ? [[fingerprint(account), { server_id: owner.server_id, user_id: owner.user_id, at: now }]] : []
    const newest = Object.entries(others).sort(([, a], [, b]) => b.at - a.at)
    const kept = Object.fromEntries([...own, ...newest].slice(0, MAX_TOKENS)) as Known
    await writeDurably(file, `${JSON.stringify(kept, null, 2)}\n`, 0o600)
  })
}
