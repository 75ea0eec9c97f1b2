import type { ChangeSetItemRow } from '../engine/change-set-rows.ts'
import type { Reader, Writer } from '../engine/database.ts'
import { deleteOldest } from '../engine/slices.ts'

// Changes made by the assistant: one set per answer that changed anything, and per undo, with its changes in order.

export interface StoredSet {
  id: number
  conversation_id: number | null
  undoes: number | null
  created_at: number
}

export type StoredItem = Omit<ChangeSetItemRow, 'id'> & { id: number }

const shown = ['id', 'conversation_id', 'undoes', 'created_at'] as const

export async function insertSet(
  tx: Writer,
  set: { user: number; conversation: number | undefined; undoes: number | undefined },
  now: number,
): Promise<number> {
  const { user, conversation = null, undoes = null } = set
  const { id } = await tx.q
    .insertInto('change_sets')
    .values({ user_id: user, conversation_id: conversation, undoes, created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function insertItem(
  tx: Writer,
  item: Pick<StoredItem, 'change_set_id' | 'kind' | 'target' | 'data'>,
): Promise<void> {
  await tx.q
    .insertInto('change_set_items')
    .values({ ...item, undone_by: null })
    .execute()
}

/** The newest sets of an account, optionally before an ID. */
export const setsOf = (
  on: Reader,
  user: number,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<StoredSet[]> =>
  on.q
    .selectFrom('change_sets')
    .select(shown)
    .where('user_id', '=', user)
    .$if(before !== undefined, (query) => query.where('id', '<', before!))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

/** A set of this account. */
export const setOf = (on: Reader, user: number, id: number): Promise<StoredSet | undefined> =>
  on.q.selectFrom('change_sets').select(shown).where('user_id', '=', user).where('id', '=', id).executeTakeFirst()

/** The changes of sets without their data, in the order they happened. */
export const itemsOf = async (on: Reader, sets: number[]): Promise<Omit<StoredItem, 'data'>[]> =>
  sets.length === 0
    ? []
    : on.q
        .selectFrom('change_set_items')
        .select(['id', 'change_set_id', 'kind', 'target', 'undone_by'])
        .where('change_set_id', 'in', sets)
        .orderBy('id')
        .execute()

export const itemOf = (on: Reader, id: number): Promise<StoredItem | undefined> =>
  on.q.selectFrom('change_set_items').selectAll().where('id', '=', id).executeTakeFirst()

export async function markUndone(tx: Writer, item: number, by: number): Promise<void> {
  await tx.q.updateTable('change_set_items').set({ undone_by: by }).where('id', '=', item).execute()
}

/** Deletes sets older than the trash and versions that an undo would restore. */
export const forgetSets = deleteOldest({ table: 'change_sets', age: 'created_at', key: ['id'] })
