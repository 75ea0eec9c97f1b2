import { sql } from 'kysely'
import type { Reader } from '../engine/database.ts'

// What maintenance would remove now, counted without removing it.

/** Times before which data is due for removal, epoch ms. */
export interface Bounds {
  /** For deleted and overwritten files. */
  kept: number
  /** For untouched contents. */
  touched: number
}

export interface Removable {
  trash: number
  versions: number
  /** Contents without a reference afterwards, and their bytes. */
  contents: number
  bytes: number
}

/** Trash entries, versions and contents that are due. */
export async function removable(on: Reader, { kept, touched }: Bounds): Promise<Removable> {
  const doomed = sql`(select id from trash where deleted_at < ${kept})`
  const { rows } = await sql<Removable>`select
    (select count(*) from trash where deleted_at < ${kept}) as trash,
    (select count(*) from versions v join nodes n on n.id = v.node_id
      where v.replaced_at < ${kept} and (n.trash_id is null or n.trash_id not in ${doomed})) as versions,
    count(*) as contents, coalesce(sum(c.size), 0) as bytes
    from contents c where c.touched_at < ${touched}
    and not exists (
      select 1 from nodes n where n.sha256 = c.sha256 and (n.trash_id is null or n.trash_id not in ${doomed})
    )
    and not exists (
      select 1 from versions v join nodes n on n.id = v.node_id
      where v.sha256 = c.sha256 and v.replaced_at >= ${kept} and (n.trash_id is null or n.trash_id not in ${doomed})
    )
    and not exists (select 1 from app_files a where a.sha256 = c.sha256)`.execute(on.q)
  const { trash, versions, contents, bytes } = rows[0]!
  return { trash: Number(trash), versions: Number(versions), contents: Number(contents), bytes: Number(bytes) }
}

/** Tombstones of feeds and records of deleted messages from before a time. */
export async function forgettable(on: Reader, before: number): Promise<{ tombstones: number; messages: number }> {
  const tombstones = await on.q
    .selectFrom('changes')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('deleted', '=', sql.lit(1))
    .where('changed_at', '<', before)
    .executeTakeFirstOrThrow()
  const messages = await on.q
    .selectFrom('deleted_messages')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('deleted_at', '<', before)
    .executeTakeFirstOrThrow()
  return { tombstones: Number(tombstones.count), messages: Number(messages.count) }
}
