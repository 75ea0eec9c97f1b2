import { fault } from '../../contract/errors.ts'
import { accountByName } from '../../storage/accounts/accounts.ts'
import { DamagedBackup, type Manifest, type Piece } from '../../storage/backups/backup-manifest.ts'
import { assembleDatabase, ownScratch } from '../../storage/backups/scratch.ts'
import { verified } from '../../storage/backups/file-bytes.ts'
import type { BackupSource } from '../../storage/backups/source.ts'
import { childOf, rootOf, subtreeOf, type Node } from '../../storage/files/nodes.ts'
import { FORMER_USER } from '../../storage/accounts/former-user.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { openCopy } from '../../storage/engine/sqlite-copy.ts'
import { nameKey, segmentsOf } from '../files/files.ts'
import type { JobContext } from './job-context.ts'
import { databaseProblems } from './verification.ts'

/** A file or folder in a backup. */
export interface Entry {
  /** Absolute within the account: `/photos/cat.jpg`; the root itself is `/`. */
  path: string
  type: Node['type']
  size: number
  /** Seconds since the epoch. */
  mtime: number
  sha256: string | null
}

export interface AccountInBackup {
  username: string
  display_name: string
  files: number
  bytes: number
}

export interface Browser {
  accounts(): Promise<AccountInBackup[]>
  /** A file, or a folder with everything below it, parents first. Faults: `not_found`, `bad_path`. */
  below(username: string, path: string): Promise<Entry[]>
  /** The bytes of a file, verified: the stream ends with an error if any is wrong. */
  read(file: Entry): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

/** Maximum number of entries listed at once. */
const MAX_ENTRIES = 1_000_000

/** The paths of nodes ordered parents first. */
function withPaths(nodes: readonly Node[], top: string): Entry[] {
  const paths = new Map<number, string>()
  return nodes.map(({ id, parent_id, name, type, size, mtime, sha256 }, index) => {
    const parent = paths.get(parent_id ?? -1)
    const path = index === 0 ? top : `${parent === '/' ? '' : parent}/${name}`
    paths.set(id, path)
    return { path, type, size, mtime, sha256 }
  })
}

/** Opens the database of a backup for reading, in the folder `scratch`. Throws `DamagedBackup`. */
export async function browseBackup(
  source: BackupSource,
  manifest: Manifest,
  scratch: string,
  { progress, signal }: JobContext = {},
): Promise<Browser> {
  const { file, clear } = ownScratch(scratch)
  try {
    progress?.total(manifest.database.size)
    const blobs = await source.blobs(manifest)
    await assembleDatabase(source, manifest, file, (bytes) => {
      signal?.throwIfAborted()
      progress?.add(bytes)
    })
    const problems = await databaseProblems(manifest, blobs, file)
    if (problems.length > 0) throw new DamagedBackup(`This backup cannot be read: ${problems.join('; ')}.`)
  } catch (error) {
    await clear()
    throw error
  }
  const copy = openCopy(file)
  const { at } = copy

  return {
    async accounts() {
      const rows = await at.q
        .selectFrom('users')
        .leftJoin('nodes', (join) =>
          join
            .onRef('nodes.user_id', '=', 'users.id')
            .on('nodes.type', '=', 'file')
            .on('nodes.trash_id', 'is', null)
            .on('nodes.room_id', 'is', null),
        )
        .select(({ fn }) => [
          'users.username',
          'users.display_name',
          fn.count('nodes.id').as('files'),
          fn.sum<number | string | null>('nodes.size').as('bytes'),
        ])
        .where('users.username', '<>', FORMER_USER)
        .groupBy(['users.id', 'users.username', 'users.display_name'])
        .orderBy('users.username')
        .execute()
      return rows.map((row) => ({ ...row, files: Number(row.files), bytes: Number(row.bytes ?? 0) }))
    },

    async below(username, path) {
      const account = await accountByName(at, username.toLowerCase())
      if (!account) throw fault('not_found', { text: `There is no user "${username}" in this backup.` })
      const segments = segmentsOf(path)
      let node = await rootOf(at, account.id)
      for (const segment of segments) {
        const child = await childOf(at, node, nameKey(segment))
        if (!child) throw fault('not_found', { text: `${username} has no ${path} in this backup.` })
        node = child.id
      }
      return withPaths(await subtreeOf(at, node, MAX_ENTRIES), path)
    },

    read: ({ sha256, size }) => contentIn(at, source, { sha256: sha256!, size }),

    async close() {
      copy.close()
      await clear()
    },
  }
}

/** The bytes of a content of a backup whose database is `at`, verified. Throws `DamagedBackup`. */
export async function* contentIn(
  at: Reader,
  source: BackupSource,
  { sha256, size }: Piece,
): AsyncGenerator<Uint8Array, void, undefined> {
  const row = await at.q.selectFrom('contents').select('data').where('sha256', '=', sha256).executeTakeFirst()
  if (!row) throw new DamagedBackup(`The content ${sha256} is missing.`)
  yield* row.data ? verified({ sha256, size }, only(row.data)) : source.read({ sha256, size })
}

async function* only(data: Uint8Array): AsyncGenerator<Uint8Array> {
  await Promise.resolve()
  yield data
}
