import { first, prepared, type Reader, type Writer } from '../engine/database.ts'
import type { AppRow } from '../engine/desktop-rows.ts'

export type StoredApp = Omit<AppRow, 'id'> & { id: number }
export type NewApp = Omit<AppRow, 'id' | 'created_at' | 'updated_at'>

const visibleQuery = prepared<{ user: number }, StoredApp>(({ q, p }) =>
  q
    .selectFrom('apps')
    .selectAll()
    .where(({ or, eb }) => or([eb('is_system', '=', 1), eb('created_by', '=', p.user)])),
)

/** The system's apps and the account's own, in no order. */
export const visibleApps = (on: Reader, user: number): Promise<StoredApp[]> => visibleQuery(on, { user })

const byIdQuery = prepared<{ id: number }, StoredApp>(({ q, p }) =>
  q.selectFrom('apps').selectAll().where('id', '=', p.id),
)

export const appById = (on: Reader, id: number): Promise<StoredApp | undefined> => first(byIdQuery(on, { id }))

const bySlugQuery = prepared<{ slug: string }, StoredApp>(({ q, p }) =>
  q.selectFrom('apps').selectAll().where('slug', '=', p.slug),
)

export const appBySlug = (on: Reader, slug: string): Promise<StoredApp | undefined> => first(bySlugQuery(on, { slug }))

/** All apps by slug, with the user name of their creator, null for the system's. */
export const allApps = (on: Reader): Promise<(StoredApp & { owner: string | null })[]> =>
  on.q
    .selectFrom('apps')
    .leftJoin('users', 'users.id', 'apps.created_by')
    .selectAll('apps')
    .select('users.username as owner')
    .orderBy('apps.slug')
    .execute()

export async function customAppCount(on: Reader, user: number): Promise<number> {
  const row = await on.q
    .selectFrom('apps')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('created_by', '=', user)
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}

/** Stores an app and returns its ID; undefined if the slug is taken. */
export async function insertApp(tx: Writer, app: NewApp, now: number): Promise<number | undefined> {
  if (await appBySlug(tx, app.slug)) return undefined
  const { id } = await tx.q
    .insertInto('apps')
    .values({ ...app, created_at: now, updated_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export type AppChanges = Partial<
  Pick<AppRow, 'name' | 'description' | 'icon_url' | 'app_path' | 'category' | 'supports_context' | 'admin_only'>
>

export const updateApp = (tx: Writer, id: number, changes: AppChanges, now: number) =>
  tx.q
    .updateTable('apps')
    .set({ ...changes, updated_at: now })
    .where('id', '=', id)
    .execute()

export const deleteApp = (tx: Writer, id: number) => tx.q.deleteFrom('apps').where('id', '=', id).execute()
