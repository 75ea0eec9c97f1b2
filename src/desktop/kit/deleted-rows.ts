import { effect, type Signal } from '@preact/signals'
import type { TableName } from '../../contract/tables.ts'
import type { Autosave } from './autosave.ts'
import type { Fields, Row, Table } from './rows.ts'

interface Options<N extends TableName> {
  table: Table<N>
  drafts: Autosave<N>
  /** Key of the open entry. */
  open: Signal<string | undefined>
  fieldsOf: (row: Row<N>) => Fields<N>
}

/** What is deleted elsewhere while it is open or changed stays, as a draft. Returns a function that deletes a row here. */
export function keepDeletedRows<N extends TableName>({ table, drafts, open, fieldsOf }: Options<N>) {
  /** The last state of rows that are open or changed. */
  const known = new Map<number, Row<N>>()
  const removed = new Set<number>()

  /** The keys of entries with unsaved changes, and of the open one, by the ids of their rows. */
  function editedRows(): Map<number, string> {
    const edited = new Map<number, string>()
    const key = open.value
    if (key !== undefined) edited.set(drafts.insertedId(key) ?? Number(key), key)
    for (const draft of drafts.all.value.values()) if (draft.id !== undefined) edited.set(draft.id, draft.key)
    return edited
  }

  effect(() => {
    for (const { key, isUntouched } of drafts.all.value.values())
      if (isUntouched && key !== open.value) drafts.resolve(key, 'theirs')
    const edited = editedRows()
    for (const id of known.keys()) if (!edited.has(id)) known.delete(id)
    for (const [id, key] of edited) {
      const row = table.get(id)
      const last = known.get(id)
      if (row) known.set(id, row)
      else if (last && known.delete(id) && !removed.has(id)) drafts.keepDeleted(key, id, fieldsOf(last))
    }
  })

  return async (id: number): Promise<void> => {
    removed.add(id)
    try {
      await table.remove(id)
    } catch (error) {
      removed.delete(id)
      throw error
    }
  }
}
