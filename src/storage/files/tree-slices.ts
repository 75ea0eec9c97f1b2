import { sql } from 'kysely'
import { first, prepared, type Reader, type Writer } from '../engine/database.ts'
import { nodeColumns, type Extent, type Node } from './nodes.ts'
import type { TrashState } from '../engine/tables.ts'
import { nextTurn } from '../engine/event-loop.ts'

// Large trees are processed in slices, one transaction each, so that others can write in between. The trash entry of
// the tree's top records the remaining work; every step can be repeated.

/** Nodes per slice. */
export const SLICE = 200

/** An unfinished trash entry. */
export interface Unfinished {
  id: number
  user_id: number
  node_id: number
  room_id: number | null
  state: TrashState
}

interface Child {
  id: number
  name: string
  name_key: string
  type: 'file' | 'directory'
}

const childrenQuery = prepared<{ parent: number; mark: number; after: string; limit: number }, Child>(({ q, p }) =>
  q
    .selectFrom('nodes')
    .select(['id', 'name', 'name_key', 'type'])
    .where('parent_id', '=', p.parent)
    .where(sql`coalesce(trash_id, 0)`, '=', p.mark)
    .where('name_key', '>', p.after)
    .orderBy('name_key')
    .limit(p.limit),
)

/** Look-ups before other tasks get a turn. */
const LOOKUPS_PER_TURN = 50

/** Nodes below a node in pages, folders first, with one of these marks: IDs of trash entries, 0 for live nodes. */
async function* pagesBelow(on: Reader, top: number, marks: readonly number[]) {
  const folders = [top]
  let lookups = 0
  for (const parent of folders) {
    for (const mark of marks) {
      for (let after = ''; ;) {
        if (++lookups % LOOKUPS_PER_TURN === 0) await nextTurn()
        const page = await childrenQuery(on, { parent, mark, after, limit: SLICE })
        for (const { id, type } of page) if (type === 'directory') folders.push(id)
        if (page.length > 0) yield { parent, page }
        if (page.length < SLICE) break
        after = page.at(-1)!.name_key
      }
    }
  }
}

/** IDs of the nodes below a node, in the same order. */
export async function allBelow(on: Reader, top: number, marks: readonly number[]): Promise<number[]> {
  const ids: number[] = []
  for await (const { page } of pagesBelow(on, top, marks)) for (const { id } of page) ids.push(id)
  return ids
}

/** Like `extentOf`, in steps between which other tasks run. */
export async function extentBelow(on: Reader, top: number, mark = 0): Promise<Extent> {
  const extents = new Map<number, Extent>([[top, { depth: 0, bytes: 0 }]])
  const most = { depth: 0, bytes: 0 }
  for await (const { parent, page } of pagesBelow(on, top, [mark])) {
    const above = extents.get(parent)!
    for (const { id, name, type } of page) {
      const extent = { depth: above.depth + 1, bytes: above.bytes + 1 + Buffer.byteLength(name) }
      if (type === 'directory') extents.set(id, extent)
      most.depth = Math.max(most.depth, extent.depth)
      most.bytes = Math.max(most.bytes, extent.bytes)
    }
  }
  return most
}

/** Live nodes below a folder in pages, folders before their contents. */
export async function* nodesBelow(on: Reader, top: number): AsyncGenerator<Node[]> {
  for await (const { page } of pagesBelow(on, top, [0])) {
    const ids = page.map(({ id }) => id)
    yield await on.q.selectFrom('nodes').select(nodeColumns).where('id', 'in', ids).execute()
  }
}

export interface Marked {
  id: number
  user_id: number
  size: number
}

const marked = ['id', 'user_id', 'size'] as const

/** Moves the live ones of some nodes to a trash entry; returns them in the given order. */
export const markNodes = async (tx: Writer, ids: readonly number[], entry: number): Promise<Marked[]> =>
  inOrder(
    ids,
    await tx.q
      .updateTable('nodes')
      .set({ trash_id: entry })
      .where('id', 'in', ids)
      .where('trash_id', 'is', null)
      .returning(marked)
      .execute(),
  )

/** Restores those of some nodes that belong to a trash entry; returns them in the given order. */
export const unmarkNodes = async (tx: Writer, ids: readonly number[], entry: number): Promise<Marked[]> =>
  inOrder(
    ids,
    await tx.q
      .updateTable('nodes')
      .set({ trash_id: null })
      .where('id', 'in', ids)
      .where('trash_id', '=', entry)
      .returning(marked)
      .execute(),
  )

function inOrder(ids: readonly number[], rows: readonly Marked[]): Marked[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** Deletes at most `SLICE` versions of some nodes; returns their number. */
export async function dropVersions(tx: Writer, nodes: readonly number[]): Promise<number> {
  const some = tx.q.selectFrom('versions').select('id').where('node_id', 'in', nodes).limit(SLICE)
  const gone = await tx.q.deleteFrom('versions').where('id', 'in', some).returning('id').execute()
  return gone.length
}

/**
 * Deletes nodes of a trash entry that have no children except items deleted earlier on their own: those move to the
 * root of their tree, from where they can be restored.
 */
export async function dropNodes(tx: Writer, ids: readonly number[], entry: number): Promise<void> {
  await sql`update nodes set parent_id = (
      select r.id from nodes r where r.parent_id is null and (
        (nodes.room_id is null and r.room_id is null and r.user_id = nodes.user_id) or r.room_id = nodes.room_id
      )
    ) where parent_id in (${sql.join(ids)}) and coalesce(trash_id, 0) <> ${entry}`.execute(tx.q)
  await tx.q.deleteFrom('nodes').where('id', 'in', ids).where('trash_id', '=', entry).execute()
}

/** The oldest unfinished entry of an account; copies being made only if they have not continued since `given`. */
export async function nextUnfinished(on: Reader, user: number, given: number): Promise<Unfinished | undefined> {
  const { rows } = await sql<Unfinished>`select t.id, t.user_id, t.node_id, n.room_id, t.state
    from trash t join nodes n on n.id = t.node_id
    where t.user_id = ${user} and t.state <> 'kept' and (t.state <> 'staging' or t.proceeded_at < ${given})
    order by t.id limit 1`.execute(on.q)
  return rows[0]
}

/** Accounts with trees that are being moved, copied or removed. */
export async function usersUnfinished(on: Reader): Promise<number[]> {
  const { rows } = await sql<{ user_id: number }>`select distinct user_id from trash where state <> 'kept'`.execute(
    on.q,
  )
  return rows.map(({ user_id }) => user_id)
}

/** Changes the state of an entry; false if it is no longer in state `from`. */
export async function setState(tx: Writer, entry: number, from: TrashState, to: TrashState, now: number) {
  const changed = await tx.q
    .updateTable('trash')
    .set({ state: to, proceeded_at: now })
    .where('id', '=', entry)
    .where('state', '=', from)
    .returning('id')
    .execute()
  return changed.length > 0
}

export const forgetEntry = (tx: Writer, entry: number) => tx.q.deleteFrom('trash').where('id', '=', entry).execute()

/** Creates an unfinished entry with only its top marked. */
export async function beginEntry(
  tx: Writer,
  node: number,
  { user, path, state }: { user: number; path: string; state: TrashState },
  now: number,
): Promise<number> {
  const { id } = await tx.q
    .insertInto('trash')
    .values({ user_id: user, node_id: node, path, deleted_at: now, state, proceeded_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  await tx.q.updateTable('nodes').set({ trash_id: id }).where('id', '=', node).execute()
  return id
}

const parentQuery = prepared<{ id: number }, { parent_id: number | null }>(({ q, p }) =>
  q.selectFrom('nodes').select('parent_id').where('id', '=', p.id),
)

/** Tops of all trees being restored or copied: files of rooms belong to several accounts. */
async function fillingTops(on: Reader): Promise<Set<number>> {
  const { rows } = await sql<{ node_id: number }>`select node_id from trash
    where state <> 'kept' and state = 'reviving'`.execute(on.q)
  return new Set(rows.map(({ node_id }) => node_id))
}

async function* upwards(on: Reader, node: number): AsyncGenerator<number> {
  for (let at: number | null = node; at !== null; at = (await first(parentQuery(on, { id: at })))?.parent_id ?? null)
    yield at
}

/** Whether a node is inside a tree that is being restored or copied. */
export async function isInFilling(on: Reader, node: number): Promise<boolean> {
  const tops = await fillingTops(on)
  if (tops.size > 0) for await (const at of upwards(on, node)) if (at !== node && tops.has(at)) return true
  return false
}

/** Whether a tree is being restored or copied at, below or around a node. */
export async function isFilling(on: Reader, node: number): Promise<boolean> {
  for (const top of await fillingTops(on)) for await (const at of upwards(on, top)) if (at === node) return true
  return isInFilling(on, node)
}

const awaitedQuery = prepared<{ parent: number; key: string }, { id: number }>(({ q, p }) =>
  q
    .selectFrom('nodes as n')
    .innerJoin('trash as t', 't.id', 'n.trash_id')
    .select('n.id')
    .where('n.parent_id', '=', p.parent)
    .where('n.name_key', '=', p.key)
    .where('t.state', '=', sql.lit('reviving'))
    .limit(1),
)

/** Whether a node is about to be restored to a place. */
export const isAwaited = async (on: Reader, parent: number, key: string): Promise<boolean> =>
  (await first(awaitedQuery(on, { parent, key }))) !== undefined

/** Those of the hashes that the database knows. */
export async function presentContents(on: Reader, hashes: readonly string[]): Promise<Set<string>> {
  const rows = await on.q.selectFrom('contents').select('sha256').where('sha256', 'in', hashes).execute()
  return new Set(rows.map(({ sha256 }) => sha256))
}
