import type { Clock } from '../../base/clock.ts'
import { fault, isFault } from '../../contract/errors.ts'
import { FILES_BATCH, PUSH_OPERATIONS, UPLOAD_BATCH } from '../../contract/limits.ts'
import type { TableName } from '../../contract/tables.ts'
import { DamagedBackup } from '../../storage/backups/backup-manifest.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { JobContext } from '../backups/backups.ts'
import type { FileEntry, Files, TreeEntry } from '../files/files.ts'
import { insertRowsIn, ownValues, rowIn, type Sync, type WholeRow } from '../sync/sync.ts'
import { isFolder, type Difference, type Replacement } from './difference.ts'
import type { PastDatabase } from './past-database.ts'
import type { RewindLock } from './rewind-lock.ts'

/** Something that stayed as it was, and why. */
export interface Failure {
  what: string
  why: string
}

export interface ApplyParts {
  database: Database
  clock: Clock
  files: Pick<Files, 'changeAll' | 'uploadAll'>
  sync: Pick<Sync, 'push'>
}

/** The account, and its id in the database of the past. */
interface Work {
  user: number
  past: PastDatabase
  pastUser: number
  difference: Difference
  job: JobContext
  lock: Pick<RewindLock, 'assertHeld'>
}

function* chunksOf<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let first = 0; first < items.length; first += size) yield items.slice(first, first + size)
}

/**
 * Removes the files, then the folders that are empty, deepest first: what was put into a folder since the comparison
 * stays. Done before anything is stored: what is created may have the name of something that is removed.
 */
async function removeFiles({ files }: ApplyParts, { user, difference, job }: Work): Promise<Failure[]> {
  const failures: Failure[] = []
  const removed = [...difference.removed, ...difference.removedInside]
  const operations = [
    ...removed.flatMap(({ path, sha256 }) => (sha256 === null ? [] : [{ op: 'delete', path, if_sha256: sha256 }])),
    ...removed
      .filter(isFolder)
      .reverse()
      .map(({ path }) => ({ op: 'delete', path, if_empty: true })),
  ]
  for (const group of chunksOf(operations, FILES_BATCH.max_operations)) {
    job.signal?.throwIfAborted()
    const { results } = await files.changeAll(user, group)
    failures.push(...refusalsOf(results))
  }
  return failures
}

const refusalsOf = (results: readonly { ok: boolean; path: string; error?: string }[]): Failure[] =>
  results.filter(({ ok }) => !ok).map(({ path, error = '' }) => ({ what: path, why: error }))

interface ToStore {
  entry: TreeEntry
  ifSha256: string | undefined
  growth: number
}

/** Files that shrink come first, so that the quota holds on the way when it holds at the end. */
function inOrder(restored: readonly TreeEntry[], replaced: readonly Replacement[]): ToStore[] {
  const stored = [
    ...restored.map((entry) => ({
      entry,
      ifSha256: entry.sha256 === null ? undefined : 'absent',
      growth: entry.size,
    })),
    ...replaced.map(({ old, sha256, growth }) => ({ entry: old, ifSha256: sha256, growth })),
  ]
  const folders = stored.filter(({ entry }) => entry.sha256 === null)
  const files = stored.filter(({ entry }) => entry.sha256 !== null)
  return [...folders, ...files.sort((a, b) => a.growth - b.growth)]
}

async function* contentOf(
  { past, job }: Work,
  { sha256, size }: { sha256: string; size: number },
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of past.read({ sha256, size })) {
      job.signal?.throwIfAborted()
      job.progress?.add(piece.length)
      yield piece
    }
  } catch (error) {
    // Fails this file only.
    if (error instanceof DamagedBackup) throw fault('checksum_mismatch', { text: error.message })
    throw error
  }
}

function entryOf(work: Work, { entry: { path, sha256, size, mtime }, ifSha256 }: ToStore): FileEntry {
  const kind = sha256 === null ? ('directory' as const) : ('file' as const)
  const body = sha256 === null ? nothing() : contentOf(work, { sha256, size })
  return { path, kind, mtime, sha256: sha256 ?? undefined, ifSha256, body }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function storeFiles({ files }: ApplyParts, work: Work): Promise<Failure[]> {
  const failures: Failure[] = []
  const { user, difference, job } = work
  const all = inOrder(difference.restored, difference.replaced)
  job.progress?.total(all.reduce((sum, { entry }) => sum + entry.size, 0))
  for (const group of chunksOf(all, UPLOAD_BATCH.max_entries)) {
    const entries = async function* (): AsyncGenerator<FileEntry> {
      for (const each of group) yield await Promise.resolve(entryOf(work, each))
    }
    failures.push(...refusalsOf((await files.uploadAll(user, entries())).results))
  }
  return failures
}

const rowName = (table: TableName, id: number): string => `${table} ${id}`

/** Removes rows first, so that the bound of an account holds on the way. */
async function changeRows({ sync }: ApplyParts, { user, past, pastUser, difference }: Work): Promise<Failure[]> {
  const failures: Failure[] = []
  const push = async (table: TableName, operations: { id: number; operation: object }[]) => {
    for (const group of chunksOf(operations, PUSH_OPERATIONS)) {
      const { results } = await sync.push(user, { operations: group.map(({ operation }) => ({ table, ...operation })) })
      for (const { ok, index, error = '' } of results)
        if (!ok) failures.push({ what: rowName(table, group[index]!.id), why: error })
    }
  }
  for (const [table, { removed }] of difference.rows)
    await push(
      table,
      removed.map(({ id, version }) => ({
        id,
        operation: { operation: 'DELETE', data: { id }, base_version: version },
      })),
    )
  for (const [table, { replaced }] of difference.rows)
    for (const group of chunksOf(replaced, PUSH_OPERATIONS)) {
      const operations = []
      for (const { id, version } of group) {
        const data = { ...ownValues((await rowIn(past.at, pastUser, table, id))!), id }
        operations.push({ id, operation: { operation: 'UPDATE', data, base_version: version } })
      }
      await push(table, operations)
    }
  return failures
}

/** Rows that are inserted in one transaction. */
const ROWS = 100

/** Deleted rows get new ids, because clients have seen that the old ones are gone. */
async function insertRows({ database, clock }: ApplyParts, { user, past, pastUser, difference, lock }: Work) {
  const failures: Failure[] = []

  async function insert(table: TableName, ids: readonly number[]): Promise<void> {
    const now = clock.now()
    const rows: WholeRow[] = []
    for (const id of ids) {
      const row = (await rowIn(past.at, pastUser, table, id))!
      const created_at = row['created_at'] as string
      rows.push({
        table,
        values: ownValues(row),
        stamps: { version: 1, created_at, updated_at: new Date(now).toISOString() },
      })
    }
    try {
      await database.write({ accounts: [user] }, async (tx) => {
        // An insertion has no version to compare, so that a second rewind would insert the rows again.
        await lock.assertHeld(tx)
        await insertRowsIn(tx, user, rows, now)
      })
    } catch (error) {
      if (!isFault(error)) throw error
      if (ids.length === 1) failures.push({ what: rowName(table, ids[0]!), why: error.message })
      else for (const id of ids) await insert(table, [id])
    }
  }

  for (const [table, { restored }] of difference.rows)
    for (const group of chunksOf(restored, ROWS)) await insert(table, group)
  return failures
}

/**
 * Makes the changes as ordinary changes of the account. What has changed since the comparison, and what is refused or
 * damaged, stays as it is and is returned.
 */
export async function applyDifference(parts: ApplyParts, work: Work): Promise<Failure[]> {
  return [
    ...(await removeFiles(parts, work)),
    ...(await storeFiles(parts, work)),
    ...(await changeRows(parts, work)),
    ...(await insertRows(parts, work)),
  ]
}
