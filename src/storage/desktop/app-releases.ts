import { sql } from 'kysely'
import { first, prepared, type Reader, type Writer } from '../engine/database.ts'
import type { AppFileRow, AppReleaseRow } from '../engine/desktop-rows.ts'

export interface StoredRelease {
  id: number
  version: string
  sha256: string
  is_current: number
  installed_at: number
}

export type NewRelease = Omit<AppReleaseRow, 'id' | 'is_current'> & { files: readonly Omit<AppFileRow, 'release_id'>[] }

export const releasesOf = (on: Reader, app: number): Promise<StoredRelease[]> =>
  on.q
    .selectFrom('app_releases')
    .select(['id', 'version', 'sha256', 'is_current', 'installed_at'])
    .where('app_id', '=', app)
    .orderBy('id', 'desc')
    .execute()

/** The active releases by app ID. */
export async function currentReleases(on: Reader): Promise<Map<number, StoredRelease>> {
  const rows = await on.q
    .selectFrom('app_releases')
    .select(['id', 'app_id', 'version', 'sha256', 'is_current', 'installed_at'])
    .where('is_current', '=', sql.lit(1))
    .execute()
  return new Map(rows.map(({ app_id, ...release }) => [app_id, release]))
}

export async function releaseSize(on: Reader, release: number): Promise<{ files: number; bytes: number }> {
  const row = await on.q
    .selectFrom('app_files')
    .select(({ fn }) => [fn.countAll().as('files'), fn.sum('size').as('bytes')])
    .where('release_id', '=', release)
    .executeTakeFirst()
  return { files: Number(row?.files ?? 0), bytes: Number(row?.bytes ?? 0) }
}

export async function releaseManifest(on: Reader, release: number): Promise<string> {
  const query = on.q.selectFrom('app_releases').select('manifest').where('id', '=', release)
  return (await query.executeTakeFirstOrThrow()).manifest
}

/** Activates a release in place of the active one. */
export async function makeCurrent(tx: Writer, app: number, release: number): Promise<void> {
  // Deactivate first, so that there are never two.
  await tx.q.updateTable('app_releases').set({ is_current: 0 }).where('app_id', '=', app).execute()
  await tx.q.updateTable('app_releases').set({ is_current: 1 }).where('id', '=', release).execute()
}

/** Rows of one INSERT: databases limit the values of a statement. */
const ROWS = 200

/** Stores a release, whose contents are claimed in the same transaction, and activates it. */
export async function insertRelease(tx: Writer, { files, ...release }: NewRelease): Promise<void> {
  const { id } = await tx.q
    .insertInto('app_releases')
    .values({ ...release, is_current: 0 })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (let at = 0; at < files.length; at += ROWS) {
    const rows = files.slice(at, at + ROWS).map((file) => ({ release_id: id, ...file }))
    await tx.q.insertInto('app_files').values(rows).execute()
  }
  await makeCurrent(tx, release.app_id, id)
}

export async function deleteReleases(tx: Writer, releases: readonly number[]): Promise<void> {
  if (releases.length > 0) await tx.q.deleteFrom('app_releases').where('id', 'in', releases).execute()
}

const servedQuery = prepared<{ slug: string; path: string }, { sha256: string; size: number }>(({ q, p }) =>
  q
    .selectFrom('apps')
    .innerJoin('app_releases', 'app_releases.app_id', 'apps.id')
    .innerJoin('app_files', 'app_files.release_id', 'app_releases.id')
    .select(['app_files.sha256', 'app_files.size'])
    .where('apps.slug', '=', p.slug)
    .where('app_releases.is_current', '=', 1)
    .where('app_files.path', '=', p.path),
)

/** A file of the active release of an app; `size` in bytes. */
export const servedFile = (on: Reader, slug: string, path: string) => first(servedQuery(on, { slug, path }))
