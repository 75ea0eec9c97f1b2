import { sql } from 'kysely'
import { first, prepared, type Reader, type Writer } from '../engine/database.ts'
import type { ComponentProfileRow, ComponentRow } from '../engine/desktop-rows.ts'

/** A component without its version fields. */
export type ComponentContent = Pick<ComponentRow, 'component_id' | 'component_type' | 'code' | 'metadata'>

export type StoredComponent = Omit<ComponentRow, 'id' | 'user_id'> & { id: number }

/** A version in the history. */
export type StoredVersion = Pick<ComponentRow, 'version' | 'is_active' | 'updated_at' | 'metadata'>

const shown = [
  'id',
  'component_id',
  'component_type',
  'code',
  'version',
  'is_active',
  'metadata',
  'updated_at',
] as const

const activeQuery = prepared<{ user: number }, StoredComponent>(({ q, p }) =>
  q
    .selectFrom('components')
    .select(shown)
    .where('user_id', '=', p.user)
    .where('is_active', '=', sql.lit(1))
    .orderBy('component_id'),
)

export const activeComponents = (on: Reader, user: number): Promise<StoredComponent[]> => activeQuery(on, { user })

const activeOneQuery = prepared<{ user: number; component: string }, StoredComponent>(({ q, p }) =>
  q
    .selectFrom('components')
    .select(shown)
    .where('user_id', '=', p.user)
    .where('component_id', '=', p.component)
    .where('is_active', '=', sql.lit(1)),
)

export const activeComponent = (on: Reader, user: number, component: string): Promise<StoredComponent | undefined> =>
  first(activeOneQuery(on, { user, component }))

export const componentVersion = (
  on: Reader,
  user: number,
  component: string,
  version: number,
): Promise<StoredComponent | undefined> =>
  on.q
    .selectFrom('components')
    .select(shown)
    .where('user_id', '=', user)
    .where('component_id', '=', component)
    .where('version', '=', version)
    .executeTakeFirst()

export const versionsOfComponent = (on: Reader, user: number, component: string): Promise<StoredVersion[]> =>
  on.q
    .selectFrom('components')
    .select(['version', 'is_active', 'updated_at', 'metadata'])
    .where('user_id', '=', user)
    .where('component_id', '=', component)
    .orderBy('version', 'desc')
    .execute()

export const versionsAfter = (on: Reader, user: number, id: number, limit: number): Promise<StoredComponent[]> =>
  on.q
    .selectFrom('components')
    .select(shown)
    .where('user_id', '=', user)
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit)
    .execute()

/** The newest version of a component; 0 if there is none. */
export async function newestVersion(on: Reader, user: number, component: string): Promise<number> {
  const row = await on.q
    .selectFrom('components')
    .select(({ fn }) => fn.max('version').as('version'))
    .where('user_id', '=', user)
    .where('component_id', '=', component)
    .executeTakeFirst()
  return Number(row?.version ?? 0)
}

export interface ComponentOverview {
  username: string
  component_id: string
  /** Of the newest version. */
  component_type: ComponentRow['component_type']
  newest: number
  /** The active version; null if there is none. */
  active: number | null
  versions: number
  updated_at: number
}

/** All components, or those of one account, by user name and component. */
export async function componentOverviews(on: Reader, user?: number): Promise<ComponentOverview[]> {
  const summed = on.q
    .selectFrom('components')
    .select(({ fn }) => [
      'user_id',
      'component_id',
      fn.max('version').as('newest'),
      sql<number | null>`max(case when is_active = 1 then version end)`.as('active'),
      fn.countAll().as('versions'),
    ])
    .$if(user !== undefined, (query) => query.where('user_id', '=', user!))
    .groupBy(['user_id', 'component_id'])
  const rows = await on.q
    .selectFrom(summed.as('s'))
    .innerJoin('users as u', 'u.id', 's.user_id')
    .innerJoin('components as c', (join) =>
      join
        .onRef('c.user_id', '=', 's.user_id')
        .onRef('c.component_id', '=', 's.component_id')
        .onRef('c.version', '=', 's.newest'),
    )
    .select(['u.username', 's.component_id', 'c.component_type', 's.newest', 's.active', 's.versions', 'c.updated_at'])
    .orderBy('u.username')
    .orderBy('s.component_id')
    .execute()
  return rows.map((row) => ({ ...row, versions: Number(row.versions) }))
}

/** Components of an account, active or not. */
export async function componentCount(on: Reader, user: number): Promise<number> {
  const row = await on.q
    .selectFrom('components')
    .select(({ fn }) => fn.count('component_id').distinct().as('count'))
    .where('user_id', '=', user)
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}

/** Stores an inactive version of a component, and deletes all but the newest `kept`. */
export async function insertVersion(
  tx: Writer,
  user: number,
  component: ComponentContent & { version: number },
  kept: number,
  now: number,
): Promise<void> {
  await tx.q
    .insertInto('components')
    .values({ ...component, user_id: user, is_active: 0, updated_at: now })
    .execute()
  await tx.q
    .deleteFrom('components')
    .where('user_id', '=', user)
    .where('component_id', '=', component.component_id)
    .where('version', '<=', component.version - kept)
    .execute()
}

/** Activates a version in place of the active one; false if there is no such version. */
export async function activate(tx: Writer, user: number, component: string, version: number): Promise<boolean> {
  const found = await tx.q
    .selectFrom('components')
    .select('id')
    .where('user_id', '=', user)
    .where('component_id', '=', component)
    .where('version', '=', version)
    .executeTakeFirst()
  if (!found) return false
  await deactivate(tx, user, component)
  await tx.q.updateTable('components').set({ is_active: 1 }).where('id', '=', found.id).execute()
  return true
}

/** Deactivates a component, or all of the account's; returns how many. */
export async function deactivate(tx: Writer, user: number, component?: string): Promise<number> {
  const rows = await tx.q
    .updateTable('components')
    .set({ is_active: 0 })
    .where('user_id', '=', user)
    .where('is_active', '=', sql.lit(1))
    .$if(component !== undefined, (query) => query.where('component_id', '=', component!))
    .returning('id')
    .execute()
  return rows.length
}

/** Saves the active components of an account under a name; returns how many. */
export async function insertProfile(
  tx: Writer,
  user: number,
  name: string,
  now: number,
): Promise<{ id: number; components: number }> {
  const { id } = await tx.q
    .insertInto('component_profiles')
    .values({ user_id: user, name, is_default: 0, created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  const copied = await tx.q
    .insertInto('profile_components')
    .columns(['profile_id', 'component_id', 'component_type', 'code', 'metadata'])
    .expression((build) =>
      build
        .selectFrom('components')
        .select(({ lit }) => [lit(id).as('profile_id'), 'component_id', 'component_type', 'code', 'metadata'])
        .where('user_id', '=', user)
        .where('is_active', '=', sql.lit(1)),
    )
    .returning('component_id')
    .execute()
  return { id, components: copied.length }
}

export async function insertWholeProfile(
  tx: Writer,
  user: number,
  profile: Pick<ComponentProfileRow, 'name' | 'is_default' | 'created_at'>,
  components: readonly ComponentContent[],
): Promise<void> {
  const { id } = await tx.q
    .insertInto('component_profiles')
    .values({ user_id: user, ...profile })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (const component of components) {
    await tx.q
      .insertInto('profile_components')
      .values({ profile_id: id, ...component })
      .execute()
  }
}

export type StoredProfile = Pick<ComponentProfileRow, 'name' | 'is_default' | 'created_at'> & {
  id: number
  /** Null for a profile without components. */
  component_id: string | null
}

/** The profiles of an account by name, one row per component. */
export const profilesOf = (on: Reader, user: number): Promise<StoredProfile[]> =>
  on.q
    .selectFrom('component_profiles as profile')
    .leftJoin('profile_components as part', 'part.profile_id', 'profile.id')
    .select(['profile.id', 'profile.name', 'profile.is_default', 'profile.created_at', 'part.component_id'])
    .where('profile.user_id', '=', user)
    .orderBy('profile.name')
    .orderBy('profile.id')
    .orderBy('part.component_id')
    .execute()

export async function profileCount(on: Reader, user: number): Promise<number> {
  const row = await on.q
    .selectFrom('component_profiles')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('user_id', '=', user)
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}

/** The components of a profile; undefined if the account has none with this ID. */
export async function componentsOfProfile(
  on: Reader,
  user: number,
  profile: number,
): Promise<ComponentContent[] | undefined> {
  const found = await on.q
    .selectFrom('component_profiles')
    .select('id')
    .where('id', '=', profile)
    .where('user_id', '=', user)
    .executeTakeFirst()
  if (!found) return undefined
  return on.q
    .selectFrom('profile_components')
    .select(['component_id', 'component_type', 'code', 'metadata'])
    .where('profile_id', '=', profile)
    .orderBy('component_id')
    .execute()
}

/** False if the account has none with this ID. */
export async function renameProfile(tx: Writer, user: number, profile: number, name: string): Promise<boolean> {
  const rows = await tx.q
    .updateTable('component_profiles')
    .set({ name })
    .where('id', '=', profile)
    .where('user_id', '=', user)
    .returning('id')
    .execute()
  return rows.length > 0
}

/** False if the account has none with this ID. */
export async function deleteProfile(tx: Writer, user: number, profile: number): Promise<boolean> {
  const gone = await tx.q
    .deleteFrom('component_profiles')
    .where('id', '=', profile)
    .where('user_id', '=', user)
    .returning('id')
    .execute()
  return gone.length > 0
}
