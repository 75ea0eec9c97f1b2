import { sql } from 'kysely'
import type { Reader, SchemaDialect } from '../engine/database.ts'
import { appliedMigrations, migrations } from '../engine/migrations/migrate.ts'
import { FORMER_USER } from '../accounts/former-user.ts'

// Checks the rows against the assumptions of the code. Each query returns at most `limit` violations; requests never
// run them. Constraints of the database are checked too: others can change files, and disks fail.

/** Tables of applied migrations that the database does not have. */
export async function missingTables(on: Reader, dialect: SchemaDialect): Promise<string[]> {
  const applied = await appliedMigrations(on)
  const there = new Set((await on.q.introspection.getTables()).map(({ name }) => name))
  return migrations
    .filter(({ name }) => applied.includes(name))
    .flatMap(({ statements }) => statements(dialect))
    .flatMap((statement) => /^\s*create table (\w+)/.exec(statement.compile(on.q).sql)?.[1] ?? [])
    .filter((name) => !there.has(name))
}

export interface NodeProblem {
  problem:
    | 'parent-missing'
    | 'parent-is-file'
    | 'parent-elsewhere'
    | 'parent-in-trash'
    | 'root-is-file'
    | 'trash-entry-missing'
  id: number
  name: string
  username: string | null
}

/** Nodes with an invalid parent or trash entry. */
export async function misplacedNodes(on: Reader, limit: number): Promise<NodeProblem[]> {
  const { rows } = await sql<NodeProblem>`select * from (
      select n.id, n.name, u.username, case
        when n.parent_id is null and n.type <> 'directory' then 'root-is-file'
        when n.parent_id is not null and p.id is null then 'parent-missing'
        when p.type <> 'directory' then 'parent-is-file'
        when p.id is not null and coalesce(p.room_id, 0) <> coalesce(n.room_id, 0) then 'parent-elsewhere'
        when n.room_id is null and p.user_id <> n.user_id then 'parent-elsewhere'
        when n.trash_id is null and pt.state = 'kept' then 'parent-in-trash'
        when n.trash_id is not null and t.id is null then 'trash-entry-missing'
      end as problem
      from nodes n left join nodes p on p.id = n.parent_id left join trash t on t.id = n.trash_id
      left join trash pt on pt.id = p.trash_id
      left join users u on u.id = n.user_id
      where not exists (select 1 from removals g where g.user_id = n.user_id)
    ) judged where problem is not null order by id limit ${limit}`.execute(on.q)
  return rows
}

/** Folders that no root leads to although each has a parent: they are in a cycle, or below one. */
export async function unreachableFolders(on: Reader, limit: number): Promise<{ id: number; parent_id: number }[]> {
  const { rows } = await sql<{ id: number; parent_id: number }>`
    with recursive folders (id, parent_id) as materialized (
      select id, parent_id from nodes where type = 'directory'
    ), reached (id) as (
      select f.id from folders f left join nodes p on p.id = f.parent_id where p.id is null
      union all
      select f.id from folders f join reached r on f.parent_id = r.id
    ) select id, parent_id from folders where id not in (select id from reached) order by id limit ${limit}`.execute(
    on.q,
  )
  return rows
}

export const rootlessAccounts = (on: Reader, limit: number): Promise<{ username: string }[]> =>
  on.q
    .selectFrom('users as u')
    .leftJoin('nodes as r', (join) =>
      join.onRef('r.user_id', '=', 'u.id').on('r.parent_id', 'is', null).on('r.room_id', 'is', null),
    )
    .select('u.username')
    .where('r.id', 'is', null)
    .where('u.username', '<>', FORMER_USER)
    .orderBy('u.username')
    .limit(limit)
    .execute()

export const uncountedAccounts = (on: Reader, limit: number): Promise<{ username: string }[]> =>
  on.q
    .selectFrom('users as u')
    .leftJoin('counters as c', 'c.user_id', 'u.id')
    .select('u.username')
    .where('c.user_id', 'is', null)
    .where('u.username', '<>', FORMER_USER)
    .orderBy('u.username')
    .limit(limit)
    .execute()

/** Trash entries that do not contain their file or folder. */
export const brokenTrash = (on: Reader, limit: number): Promise<{ id: number; path: string }[]> =>
  on.q
    .selectFrom('trash as t')
    .leftJoin('nodes as n', 'n.id', 't.node_id')
    .select(['t.id', 't.path'])
    // Unfinished entries are being processed.
    .where('t.state', '=', 'kept')
    .where(({ or, eb, ref }) =>
      or([eb('n.id', 'is', null), eb('n.trash_id', 'is', null), eb('n.trash_id', '!=', ref('t.id'))]),
    )
    .orderBy('t.id')
    .limit(limit)
    .execute()

/** A reference to a content that is not recorded, or has another size. */
export interface ContentReference {
  problem: 'content-unknown' | 'content-size'
  kind: 'node' | 'version' | 'app file'
  id: number
  sha256: string
}

/** Files, versions and files of apps that reference a missing content, or state another size. */
export async function brokenReferences(on: Reader, limit: number): Promise<ContentReference[]> {
  const { rows } = await sql<ContentReference>`select * from (
      select 'node' as kind, id, sha256, size from nodes where type = 'file'
      union all select 'version', id, sha256, size from versions
      union all select 'app file', release_id, sha256, size from app_files
    ) named left join (select sha256 as known, size as recorded from contents) c on c.known = named.sha256
    where c.known is null or c.recorded <> named.size order by kind, id limit ${limit}`.execute(on.q)
  return rows.map((row) => {
    const { kind, id, sha256, known } = row as ContentReference & { known: string | null }
    return { problem: known === null ? 'content-unknown' : 'content-size', kind, id, sha256 }
  })
}

/** Paths of files with a content as their owners know them, at most `limit`. Old versions are marked. */
export async function holdersOf(on: Reader, sha256: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: number; old: number; username: string; room: string | null }>`
    select n.id, named.old, u.username, r.name as room from (
      select id, 0 as old from nodes where sha256 = ${sha256}
      union select node_id, 1 from versions where sha256 = ${sha256}
    ) named join nodes n on n.id = named.id join users u on u.id = n.user_id left join rooms r on r.id = n.room_id
    order by named.old, n.id limit ${limit}`.execute(on.q)
  const holders: string[] = []
  for (const { id, old, username, room } of rows) {
    const place = room === null ? username : `room ${room}`
    holders.push(`${place}: ${await pathOfNode(on, id)}${old === 1 ? ' (an old version)' : ''}`)
  }
  return holders
}

/** Deeper than any valid path: ends the traversal of an invalid tree. */
const DEEPEST = 100

async function pathOfNode(on: Reader, node: number): Promise<string> {
  const { rows } = await sql<{ name: string }>`with recursive above (id, parent_id, name, level) as (
      select id, parent_id, name, 0 from nodes where id = ${node} union all
      select n.id, n.parent_id, n.name, a.level + 1 from nodes n join above a on n.id = a.parent_id
      where a.level < ${DEEPEST}
    ) select name from above where parent_id is not null order by level desc`.execute(on.q)
  return `/${rows.map(({ name }) => name).join('/')}`
}

export async function rowCounts(on: Reader): Promise<{ nodes: number; changes: number }> {
  const count = async (table: 'nodes' | 'changes') =>
    Number(
      (
        await on.q
          .selectFrom(table)
          .select(({ fn }) => fn.countAll().as('count'))
          .executeTakeFirstOrThrow()
      ).count,
    )
  return { nodes: await count('nodes'), changes: await count('changes') }
}
